"""The command `yardmaster rules backtest`: every cluster of the settings that has a Prometheus."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import click

from alerts.rendering import RuleRenderer
from alerts.rules import Rule
from bot.backtest.chart import FORMATS, draw_backtests, is_available
from bot.backtest.cluster_backtest import ClusterBacktest, Period, backtest_cluster
from bot.backtest.document import backtest_document
from bot.backtest.tables import not_replayable, print_backtest
from bot.evaluation.rulebook import read_rule_file
from bot.output import show_json
from bot.settings.schema import Settings
from bot.settings.source_options import prometheus_options
from bot.settings.source_settings import ClusterSettings
from collectors.facts.clock import Clock, SystemClock
from collectors.facts.queries import PromQLQuery
from collectors.facts.redaction import Redactor, use_redactor
from collectors.facts.results import SourceError
from collectors.facts.topology import Topology
from collectors.sources.prometheus.source import PrometheusSource

TIMEOUT = timedelta(minutes=1)  # of one range, which may take longer than a rule's query
BYTE_CAP = 8 << 20  # of one range; decoded it takes about ten times as much memory


class BacktestError(Exception):
    """A backtest cannot be run, or not completely. The text says why and what to do."""


async def run_backtest(
    files: Sequence[Path],
    settings: Settings,
    *,
    since: timedelta,
    step: timedelta | None,
    chart: Path | None,
    clock: Clock | None = None,
    as_json: bool = False,
) -> None:
    """Replay the rules of these files and print what they would have fired. Raises BacktestError.

    `as_json`: print one document instead of tables; it has the errors, too.
    """
    rules, others = _rules_of(files, settings)
    clusters = [cluster for cluster in settings.clusters if cluster.prometheus is not None]
    if not clusters:
        raise BacktestError("the settings have no cluster with a prometheus: add clusters[].prometheus.url")
    if step is not None and step < timedelta(seconds=1):
        raise BacktestError("--step is too short: 1s at least")
    if chart is not None:
        _check_chart(chart)
    now = (clock or SystemClock()).now().replace(microsecond=0)
    period = Period(start=now - since, end=now)
    found: list[ClusterBacktest] = []
    errors: list[str] = []
    for cluster in clusters:
        try:
            one = await _backtest(cluster, rules, settings, period, step)
        except SourceError as error:
            errors.append(f"{cluster.name}: {error}")
            continue
        found.append(one)
        if not as_json:
            print_backtest(one)
        errors += [
            f"{cluster.name}: {rule} could not be replayed: {reason}" for rule, reason in one.failed.items()
        ]
    if others and not as_json:
        click.echo(not_replayable(others))
    if chart is not None and found:
        try:
            draw_backtests(found, chart)
        except OSError as error:
            errors.append(f"{chart} cannot be written: {error.strerror}")
    if as_json:
        show_json(backtest_document(found, others, errors))
    if errors:
        raise BacktestError("\n".join(errors))


def _check_chart(file: Path) -> None:
    if file.suffix not in FORMATS:
        raise BacktestError(f"{file} is not a picture: its name must end in {' or '.join(FORMATS)}")
    if not is_available():
        raise BacktestError(
            "--chart needs matplotlib, which is not installed: pip install 'yardmaster[charts]'"
        )


def _rules_of(files: Sequence[Path], settings: Settings) -> tuple[Sequence[Rule], Sequence[Rule]]:
    """Return the PromQL rules of the files, and their others."""
    books = [read_rule_file(file, settings.rules) for file in files]
    if diagnostics := [str(diagnostic) for book in books for diagnostic in book.diagnostics]:
        raise BacktestError("\n".join(diagnostics))
    replayable = [rule for book in books for rule in book.rules if isinstance(rule.query, PromQLQuery)]
    others = [rule for book in books for rule in book.rules if rule not in replayable]
    if not replayable:
        raise BacktestError(not_replayable(others) if others else "the files have no alerting rules")
    return replayable, others


async def _backtest(
    cluster: ClusterSettings,
    rules: Sequence[Rule],
    settings: Settings,
    period: Period,
    step: timedelta | None,
) -> ClusterBacktest:
    assert cluster.prometheus is not None
    options = prometheus_options(cluster.prometheus)
    options = replace(
        options, timeout=max(options.timeout, TIMEOUT), byte_cap=min(options.byte_cap, BYTE_CAP)
    )
    topology = Topology(cluster=cluster.name)
    redact = Redactor(settings.redact)
    use_redactor(redact)
    renderer = RuleRenderer(lambda: topology, clean=redact.clean)
    source = PrometheusSource(options)
    try:
        return await backtest_cluster(
            cluster.name, rules, period, source, options=options, renderer=renderer, step=step
        )
    finally:
        await source.close()
