"""THE WHOLE. People and processes; the only package that knows all below it."""
