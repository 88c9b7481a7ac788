"""The command line: one file for each group of commands, and what they share."""

from bot.cli.program import main

__all__ = ["main"]
