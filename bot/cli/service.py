"""The commands `run` and `check`: the service, and its settings."""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.shared_options import CONFIG

if TYPE_CHECKING:  # commands import what they need when they run, so `version` and `--help` are fast
    from alerts.rules import Diagnostic
    from bot.settings.schema import Settings


@click.command()
@CONFIG
def run(config: Path | None) -> None:
    """Run Yardmaster until it receives SIGTERM or SIGINT. What `check` refuses is not run."""
    from bot.main import run_for_ever
    from bot.validation import validate

    validated = asyncio.run(validate(config))
    if validated.diagnostics or validated.settings is None:
        print_errors(validated.diagnostics)
        click.echo("Yardmaster cannot start with these settings.", err=True)
        sys.exit(1)
    asyncio.run(run_for_ever(validated.settings))


@click.command()
@CONFIG
def check(config: Path | None) -> None:
    """Check the settings, the files they name, and the rules. Print every error with its location; exit 1 on errors."""
    from bot.validation import validate

    validated = asyncio.run(validate(config))
    if errors := (*validated.diagnostics, *validated.unreadable):
        print_errors(errors)
        sys.exit(1)
    rules = len(validated.rulebook.rules) if validated.rulebook else 0
    click.echo(f"The settings are valid; {rules} rules are in force.")


def usable_settings(config: Path | None) -> "Settings":
    """Return the settings, or print every error and exit with 1."""
    from bot.settings.loading import SettingsError, read_settings

    try:
        return read_settings(config)
    except SettingsError as error:
        print_errors(error.diagnostics)
        sys.exit(1)


def print_errors(errors: "Iterable[Diagnostic]") -> None:
    """Print errors in the order of their locations."""
    for error in sorted(errors, key=lambda one: (one.location.file, one.location.line)):
        click.echo(str(error), err=True)
