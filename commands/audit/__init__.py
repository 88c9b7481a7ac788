"""`audit`: who did what, and what came of it."""
