"""The state of the workspace."""
