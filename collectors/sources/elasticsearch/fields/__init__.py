"""Document fields behind our labels: as the index maps them, and as its documents have them."""
