"""Delivery: edits cards until they match the store, and posts each reply once."""
