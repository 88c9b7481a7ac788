"""The commands `run`, `check` and `doctor`: the service, its settings, and what they connect to."""

import asyncio
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from bot.cli.shared_options import CONFIG, output_option, wants_json
from collectors.facts.sentences import counted, listed, sentence

if TYPE_CHECKING:  # commands import what they need when they run, so `version` and `--help` are fast
    from alerts.rules import Diagnostic
    from bot.settings.schema import Settings
    from bot.validation import Validated


@click.command()
@CONFIG
def run(config: Path | None) -> None:
    """Run Yardmaster until it receives SIGTERM or SIGINT. What `check` refuses is not run."""
    from bot.cli.log_setup import logs_of_the_service
    from bot.main import run_for_ever
    from bot.validation import validate

    with logs_of_the_service() as log:
        validated = asyncio.run(validate(config))
        if validated.diagnostics or validated.settings is None:
            print_errors(validated.diagnostics)
            click.echo("Yardmaster cannot start with these settings.", err=True)
            sys.exit(1)
        asyncio.run(run_for_ever(validated.settings, listen_dropped=log.listen))


@click.command()
@CONFIG
@click.option("--connect", is_flag=True, help="Then also ask every server, as `yardmaster doctor` does.")
@output_option
def check(config: Path | None, connect: bool, output: str, is_json: bool) -> None:
    """Check the settings, the files they name, and the rules. Print every error with its location; exit 1 on errors."""
    from bot.output import show_json
    from bot.validation import validate

    as_json = wants_json(output, is_json)
    if not as_json and sys.stderr.isatty():  # it takes a second or two, most of it for the rules
        click.echo("Checking the settings, the files that they name, and the rules.", err=True)
    validated = asyncio.run(validate(config))
    errors = (*validated.diagnostics, *validated.unreadable)
    if connect and not errors:
        _diagnose(validated, as_json=as_json)
    rules = len(validated.rulebook.rules) if validated.rulebook else 0
    warnings = validated.rulebook.warnings if validated.rulebook else ()
    if as_json:
        rows = [
            {"file": one.location.file, "line": one.location.line, "error": one.message} for one in errors
        ]
        doubts = [
            {"file": one.location.file, "line": one.location.line, "warning": one.message} for one in warnings
        ]
        show_json({"errors": rows, "warnings": doubts, "rules": rules})
    else:
        for one in warnings:
            click.echo(f"warning: {one}", err=True)
        print_errors(errors)
    if not errors and not as_json:
        for line in _checked(validated, is_connected=connect):
            click.echo(line, err=True)
        click.echo(
            counted(
                "The settings are valid; {count} rule is in force.",
                "The settings are valid; {count} rules are in force.",
                count=rules,
            )
        )
    sys.exit(1 if errors else 0)


def _checked(validated: "Validated", *, is_connected: bool) -> list[str]:
    """Return what was checked and is fine, a line each."""
    settings, rulebook = validated.settings, validated.rulebook
    if settings is None or rulebook is None:
        return []
    sources = ("kubernetes", "prometheus", "elasticsearch")
    lines = [
        sentence(
            "cluster {name}: {sources}",
            name=cluster.name,
            sources=listed([one for one in sources if getattr(cluster, one) is not None]) or "no source",
        )
        for cluster in settings.clusters
    ]
    channels = [*(["slack"] if settings.slack else []), *settings.channels]
    lines.append(sentence("channels: {names}", names=listed(channels) or "none, so cards are printed"))
    files = counted("{count} file of rules", "{count} files of rules", count=len(settings.rules.files))
    packs = "every pack" if settings.rules.packs is None else listed(settings.rules.packs) or "no pack"
    lines.append(sentence("rules: {packs}, {files}", packs=packs, files=files))
    fine = [f"fine: {line}" for line in lines]
    return fine if is_connected else [*fine, "No server was asked: `yardmaster check --connect` does."]


@click.command()
@CONFIG
@click.option("--all", "every", is_flag=True, help="A line for each finding and each rule.")
@output_option
def doctor(config: Path | None, every: bool, output: str, is_json: bool) -> None:
    """Ask every source and channel what is missing, and say what fixes it; exit 1 if something is broken.

    It changes nothing and posts nothing. The settings are checked first, as by `yardmaster check`.
    """
    from bot.validation import validate

    validated = asyncio.run(validate(config))
    if validated.diagnostics:
        print_errors(validated.diagnostics)
        sys.exit(1)
    _diagnose(validated, as_json=wants_json(output, is_json), every=every)


def _diagnose(validated: "Validated", *, as_json: bool, every: bool = False) -> NoReturn:
    """Print what every source and channel says, and exit with 1 if something is broken."""
    from bot.cli.doctor_report import report_lines
    from bot.doctor.examination import examine
    from bot.output import show_json
    from collectors.facts.clock import SystemClock

    assert validated.settings is not None
    assert validated.rulebook is not None
    found = asyncio.run(examine(validated.settings, validated.rulebook, clock=SystemClock()))
    if as_json:
        show_json([one.as_json() for one in found])
    else:
        for line in report_lines(found, every=every):
            click.echo(line)
    sys.exit(1 if any(one.is_broken for one in found) else 0)


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
