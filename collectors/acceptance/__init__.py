"""What the tests of a suite print about a node, read in the tools' own formats. Pure; nothing of it is trusted."""
