"""External programs that the demo starts and stops."""
