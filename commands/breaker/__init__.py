"""Breakers: what stopped automation, and how a person lets it run again."""
