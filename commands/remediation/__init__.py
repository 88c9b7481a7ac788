"""Remediations: what rules do by themselves, or would do, and what holds it back."""
