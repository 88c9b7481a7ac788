"""`home`: what is open, and what is one person's own."""
