"""Readers of what the tests of a suite print about a node, in the tools' own formats. Pure; none of it is trusted."""
