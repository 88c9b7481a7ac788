"""Cluster checks, one file per subject: pure functions from inputs to samples. Checks do not import each other."""
