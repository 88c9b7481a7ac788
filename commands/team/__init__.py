"""The command `team list`."""
