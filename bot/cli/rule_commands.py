"""The commands of `rules`: check, list, test, export and backtest."""

import asyncio
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.service import usable_settings
from bot.cli.shared_options import CONFIG, output_option, wants_json

if TYPE_CHECKING:
    from alerts.rules import RuleGroup

COLUMNS = ("group", "kind", "name", "severity", "for", "query")


@click.group()
def rules() -> None:
    """Check, list, test, export and backtest rules."""


@rules.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def rules_check(files: tuple[Path, ...]) -> None:
    """Check rule files as promtool does. Print every error with file and line; exit 1 on errors."""
    from alerts.loading import check_report, load
    from bot.evaluation.rulebook import symbols

    known_symbols, failed = symbols(), False
    for file in files:
        try:
            loaded = load(file.read_bytes(), file=str(file), symbols=known_symbols, own=is_own(file))
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
    type=click.Path(path_type=Path),
    help="A rule file to list instead of the settings' rules.",
)
@output_option
def rules_list(config: Path | None, file: Path | None, output: str, is_json: bool) -> None:
    """List groups, alerts and recording rules. Rules with errors are reported and left out; exit 1 then."""
    from alerts.loading import describe
    from bot.output import show_rows

    groups, errors = _groups(config, file)
    rows = [row.as_json() for row in describe(groups)]
    as_json = wants_json(output, is_json)
    if not as_json:
        rows = [{**row, "severity": _short(str(row["severity"]))} for row in rows]
    show_rows(rows, COLUMNS, as_json=as_json)
    for error in errors:
        click.echo(error, err=True)
    sys.exit(1 if errors else 0)


def _groups(config: Path | None, file: Path | None) -> "tuple[Sequence[RuleGroup], list[str]]":
    """Return the groups of a file or of the settings, and every error in what was read."""
    from alerts.loading import load
    from bot.evaluation.rulebook import read_rulebook, symbols
    from bot.settings.schema import RulesSettings

    if file is None:
        rulebook = read_rulebook(usable_settings(config).rules if config is not None else RulesSettings())
        return rulebook.groups, [str(diagnostic) for diagnostic in rulebook.diagnostics]
    try:
        loaded = load(file.read_bytes(), file=str(file), symbols=symbols(), own=is_own(file))
    except OSError as error:
        return (), [f"{file}: cannot be read: {error.strerror}"]
    return loaded.groups, [str(diagnostic) for diagnostic in loaded.diagnostics]


def _short(severity: str) -> str:
    return "by template" if "{{" in severity else severity


def _duration(context: click.Context, param: click.Parameter, text: str | None) -> timedelta | None:
    from commands.core.parameter_types import DurationType

    return None if text is None else DurationType().convert(text, param, context)


@rules.command("backtest")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@CONFIG
@click.option("--since", callback=_duration, default="7d", show_default=True, help="How far back.")
@click.option(
    "--step", callback=_duration, help="Time between evaluations; by default each rule's own interval."
)
@click.option("--chart", type=click.Path(path_type=Path), help="Also draw the alerts: a .png, .svg or .pdf.")
@output_option
def rules_backtest(
    files: tuple[Path, ...],
    config: Path | None,
    since: timedelta,
    step: timedelta | None,
    chart: Path | None,
    output: str,
    is_json: bool,
) -> None:
    """Show what the rules of these files would have fired on the recorded data of each cluster; exit 1 on errors."""
    from bot.backtest.run_backtest import BacktestError, run_backtest

    settings, as_json = usable_settings(config), wants_json(output, is_json)
    try:
        asyncio.run(run_backtest(files, settings, since=since, step=step, chart=chart, as_json=as_json))
    except BacktestError as error:
        raise click.ClickException(str(error)) from error


@rules.command("test")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def rules_test(files: tuple[Path, ...]) -> None:
    """Run files of cases in promtool's format, with promtool; exit 1 when a case fails.

    The rule files that the cases name are checked by Yardmaster first, so that both accept them.
    """
    from bot.cli.rule_cases import CasesError, run_cases

    try:
        sys.exit(run_cases(files))
    except CasesError as error:
        raise click.ClickException(str(error)) from error


@rules.command("export")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@CONFIG
@click.option("--name", default="yardmaster", show_default=True, help="The object's name.")
@click.option("--namespace", default="", help="The object's namespace.")
@click.option(
    "--label", "labels", multiple=True, metavar="NAME=VALUE", help="A label of the object; repeatable."
)
def rules_export(
    files: tuple[Path, ...], config: Path | None, name: str, namespace: str, labels: tuple[str, ...]
) -> None:
    """Print the PromQL rules of FILES, or those in force, as one PrometheusRule.

    Log searches and cluster checks are left out, because only Yardmaster can evaluate them.
    """
    import yaml

    from alerts.loading.exporting import prometheus_rule

    found = [_groups(config, file) for file in files or (None,)]
    errors = [error for _, of_file in found for error in of_file]
    for error in errors:
        click.echo(error, err=True)
    if errors:
        sys.exit(1)
    pairs = dict(_pair(label) for label in labels)
    groups = [group for of_file, _ in found for group in of_file]
    exported = prometheus_rule(groups, name=name, namespace=namespace, labels=pairs)
    click.echo(yaml.safe_dump(exported.object, sort_keys=False, allow_unicode=True, width=120), nl=False)
    if exported.left_out:
        click.echo(
            f"Left out, because only Yardmaster evaluates them: {', '.join(exported.left_out)}", err=True
        )


def _pair(label: str) -> tuple[str, str]:
    name, equals, value = label.partition("=")
    if not equals or not name:
        raise click.BadParameter(f"`{label}` is not NAME=VALUE", param_hint="--label")
    return name, value


def is_own(file: Path) -> bool:
    """Return whether Yardmaster's own annotations apply: only in its own kind of file."""
    return file.name.endswith((".yard.yaml", ".yard.yml"))
