"""Delivery to the app: Socket Mode and signed requests."""
