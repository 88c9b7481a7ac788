"""Slack: receiving and answering interactions, posting cards and replies, rendering."""
