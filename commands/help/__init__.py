"""`help`: what this person may do."""
