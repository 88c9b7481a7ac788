"""The scenarios: data."""
