"""Acceptance of nodes: the suites, the verdict, and the fleet that its figures are compared with."""
