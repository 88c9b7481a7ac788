"""Evaluation: when each rule is due, its result, and how that is recorded."""
