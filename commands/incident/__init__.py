"""`incident`: list and show incidents."""
