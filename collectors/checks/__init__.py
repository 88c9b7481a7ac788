"""Cluster checks, one file a subject: pure functions from declared inputs to samples. Checks do not know each other."""
