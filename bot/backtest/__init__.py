"""Backtests: what rules would have fired on recorded data."""
