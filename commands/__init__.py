"""WHAT WE DO. From a typed line to a finished, recorded deed."""
