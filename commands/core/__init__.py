"""The one road of a command line: parse, permit, plan, confirm, answer."""
