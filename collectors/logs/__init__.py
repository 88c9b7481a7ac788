"""Log searches of rules: what counts as new, as usual and as a host's line, in whatever store the lines are."""
