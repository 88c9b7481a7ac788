"""Block Kit: validation of blocks, and the text that a reader sees."""
