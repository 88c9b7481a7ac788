"""The commands `run` and `check`: the service, and its settings."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.shared_options import CONFIG

if TYPE_CHECKING:  # commands import what they need when they run, so `version` and `--help` are fast
    from bot.settings.schema import Settings


@click.command()
@CONFIG
def run(config: Path | None) -> None:
    """Run Yardmaster until it receives SIGTERM or SIGINT."""
    from bot.main import run_for_ever

    asyncio.run(run_for_ever(usable_settings(config)))


@click.command()
@CONFIG
def check(config: Path | None) -> None:
    """Check the settings, the files they name, and the rules. Print every error with its location; exit 1 on errors."""
    from bot.evaluation.rulebook import read_rulebook
    from bot.settings.loading import unreadable_files

    settings = usable_settings(config)
    rulebook = read_rulebook(settings.rules)
    diagnostics = [*unreadable_files(settings), *(str(diagnostic) for diagnostic in rulebook.diagnostics)]
    for diagnostic in diagnostics:
        click.echo(diagnostic, err=True)
    if diagnostics:
        sys.exit(1)
    click.echo(f"The settings are valid; {len(rulebook.rules)} rules are in force.")


def usable_settings(config: Path | None) -> "Settings":
    """Return the settings, or print every error and exit with 1."""
    from bot.settings.loading import SettingsError, read_settings

    try:
        return read_settings(config)
    except SettingsError as error:
        for diagnostic in error.diagnostics:
            click.echo(str(diagnostic), err=True)
        sys.exit(1)
