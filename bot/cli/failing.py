"""The end of a command that cannot do what it is for: a line with the reason, and an exit code."""

import sys
from typing import NoReturn

import click


def fail(reason: str, code: int = 1) -> NoReturn:
    click.echo(f"Error: {reason}", err=True)
    sys.exit(code)


def system_reason(error: Exception) -> str:
    """Return why the system refused something, without its number and the path."""
    return str(getattr(error, "strerror", None) or error)
