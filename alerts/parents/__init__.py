"""Parent incidents: what many nodes have in common whose incidents began together."""
