"""WHAT IS. Looks at the outside; has no opinions."""
