"""Incidents from alerts and topology: grouping, impact and history."""
