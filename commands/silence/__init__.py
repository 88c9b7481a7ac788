"""`silence`: add, list and expire silences."""
