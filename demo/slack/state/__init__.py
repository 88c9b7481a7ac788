"""What the workspace holds."""
