"""Commands: from a typed line to a completed, recorded action."""
