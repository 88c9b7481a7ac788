"""Interactions of people with the app."""
