"""Alerts of other programs: read from what they send, and brought to the incident recorder."""
