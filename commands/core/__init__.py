"""Handling of a command line: parse, authorize, plan, confirm, answer."""
