"""`help`: list and explain commands."""
