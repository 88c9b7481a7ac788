"""Slack: hearing gestures, answering them, speaking cards and lines, rendering."""
