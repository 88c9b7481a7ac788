"""Block Kit: what may be posted, and what a reader would see."""
