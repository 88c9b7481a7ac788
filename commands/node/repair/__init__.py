"""Repairs of a node: the fixed list, what each needs, and the command that runs one as a Job."""
