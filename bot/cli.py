"""The command line: run, check, rules, do, version, and the demo through its entry point."""

import asyncio
import json
import os
import sys
from datetime import timedelta
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING

import click
import structlog

if TYPE_CHECKING:  # commands import what they need when they run, so `version` and `--help` are fast
    from bot.settings.schema import Settings

CONFIG = click.option(
    "--config",
    "config",
    type=click.Path(path_type=Path),
    envvar="YARDMASTER_CONFIG",
    help="The settings file. Environment variables override it.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """The on-call partner of Kubernetes GPU clusters."""


@main.command()
@CONFIG
def run(config: Path | None) -> None:
    """Run Yardmaster until it receives SIGTERM or SIGINT."""
    from bot.main import run_for_ever

    asyncio.run(run_for_ever(_settings(config)))


@main.command()
@CONFIG
def check(config: Path | None) -> None:
    """Check the settings, the files they name, and the rules. Print every error with its location; exit 1 on errors."""
    from bot.evaluation.rulebook import read_rulebook
    from bot.settings.loading import unreadable_files

    settings = _settings(config)
    rulebook = read_rulebook(settings.rules)
    diagnostics = [*unreadable_files(settings), *(str(diagnostic) for diagnostic in rulebook.diagnostics)]
    for diagnostic in diagnostics:
        click.echo(diagnostic, err=True)
    if diagnostics:
        sys.exit(1)
    click.echo(f"The settings are valid; {len(rulebook.rules)} rules are in force.")


@main.group()
def rules() -> None:
    """Check, list and backtest rules."""


@rules.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def rules_check(files: tuple[Path, ...]) -> None:
    """Check rule files as promtool does. Print every error with file and line; exit 1 on errors."""
    from alerts.loading import check_report, load
    from bot.evaluation.rulebook import symbols

    known_symbols, failed = symbols(), False
    for file in files:
        try:
            loaded = load(file.read_bytes(), file=str(file), symbols=known_symbols, own=_is_own(file))
        except OSError as error:
            click.echo(f"{file}: cannot be read: {error.strerror}", err=True)
            failed = True
            continue
        failed = failed or bool(loaded.diagnostics)
        for line in check_report(str(file), loaded):
            click.echo(line)
    sys.exit(1 if failed else 0)


@rules.command("list")
@CONFIG
@click.option(
    "--file",
    "file",
    type=click.Path(path_type=Path, exists=True),
    help="a rule file to list instead of the settings' rules",
)
@click.option("--json", "as_json", is_flag=True, help="print one JSON document")
def rules_list(config: Path | None, file: Path | None, as_json: bool) -> None:
    """List groups, alerts and recording rules."""
    from rich.console import Console
    from rich.table import Table

    from alerts.loading import describe, load
    from bot.evaluation.rulebook import read_rulebook, symbols

    if file is not None:
        groups = load(file.read_bytes(), file=str(file), symbols=symbols(), own=_is_own(file)).groups
    else:
        groups = read_rulebook(_settings(config).rules).groups
    rows = [row.as_json() for row in describe(groups)]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    table = Table("group", "kind", "name", "severity", "for", "query")
    for row in rows:
        table.add_row(
            *(str(row.get(key, "") or "") for key in ("group", "kind", "name", "severity", "for", "query"))
        )
    Console().print(table)


def _duration(context: click.Context, param: click.Parameter, text: str | None) -> timedelta | None:
    from commands.core.command import DurationType

    return None if text is None else DurationType().convert(text, param, context)


@rules.command("backtest")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@CONFIG
@click.option("--since", callback=_duration, default="7d", show_default=True, help="how far back")
@click.option(
    "--step", callback=_duration, help="time between evaluations; by default each rule's own interval"
)
@click.option("--chart", type=click.Path(path_type=Path), help="also draw the alerts: a .png, .svg or .pdf")
def rules_backtest(
    files: tuple[Path, ...], config: Path | None, since: timedelta, step: timedelta | None, chart: Path | None
) -> None:
    """Show what the rules of these files would have fired on the recorded data of each cluster; exit 1 on errors."""
    from bot.backtest.run_backtest import BacktestError, run_backtest

    settings = _settings(config)
    try:
        asyncio.run(run_backtest(files, settings, since=since, step=step, chart=chart))
    except BacktestError as error:
        raise click.ClickException(str(error)) from error


@main.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--address", default="http://127.0.0.1:9099", envvar="YARDMASTER_ADDRESS", show_default=True)
@click.option("--token-file", type=click.Path(path_type=Path), envvar="YARDMASTER_TOKEN_FILE", required=True)
def do(words: tuple[str, ...], address: str, token_file: Path) -> None:
    """Post a command line to a running Yardmaster, as the token's actor: `yardmaster do node list`."""
    from bot.http.post_line import PostError, post_line

    try:
        token = token_file.read_text(encoding="utf-8").strip()
        click.echo(asyncio.run(post_line(address, token, words)))
    except (OSError, PostError) as error:
        raise click.ClickException(str(error)) from error


@main.command("version")
def show_version() -> None:
    """Print the version."""
    click.echo(f"yardmaster {version('yardmaster')}")


def _is_own(file: Path) -> bool:
    """Return whether Yardmaster's own annotations apply: only in its own kind of file."""
    return file.name.endswith((".yard.yaml", ".yard.yml"))


def _settings(config: Path | None) -> "Settings":
    from bot.settings.loading import SettingsError, read_settings

    try:
        return read_settings(config)
    except SettingsError as error:
        for diagnostic in error.diagnostics:
            click.echo(str(diagnostic), err=True)
        sys.exit(1)


def _configure_logs() -> None:
    """Configure structured logs: one JSON object per line, or coloured lines in a terminal."""
    renderer = structlog.dev.ConsoleRenderer() if sys.stderr.isatty() else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _add_demo() -> None:
    """Add the commands of other installed packages: the demo."""
    for entry_point in entry_points(group="yardmaster.demo"):
        try:
            main.add_command(entry_point.load())
        except ImportError:  # the demo's dependencies are not in a production image
            if os.environ.get("YARDMASTER_DEBUG"):
                raise


_configure_logs()
_add_demo()
