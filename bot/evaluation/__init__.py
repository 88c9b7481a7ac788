"""Evaluation: when each rule is due, what it gives, and how that is recorded."""
