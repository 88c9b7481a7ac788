"""The cluster's exporters, with the real names and labels."""
