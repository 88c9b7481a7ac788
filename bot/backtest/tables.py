"""The findings of a backtest as tables for the terminal."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import click

from alerts.rules import Rule
from bot.backtest.cluster_backtest import ClusterBacktest
from bot.output import show_table
from collectors.facts.clock import humanize
from collectors.facts.one_line import some_of
from collectors.facts.queries import LogQuery

MAX_SPANS = 5  # of blindness that are listed


def print_backtest(found: ClusterBacktest) -> None:
    """Print a cluster's alerts as a table, and below it what the table cannot show."""
    period = f"{to_the_second(found.period.start)} to {to_the_second(found.period.end)} UTC"
    rows = [
        (
            alert.rule,
            repr(alert.labels),
            to_the_second(alert.started),
            to_the_second(alert.ended) if alert.ended else "still fires",
            f"{alert.peak:.6g}",
        )
        for alert in found.alerts
    ]
    if rows:
        columns = ("rule", "labels", "started", "ended", "peak value")
        show_table(columns, rows, title=f"{found.cluster}: {period}")
    for line in _lines(found, period):
        click.echo(line)


def not_replayable(rules: Sequence[Rule]) -> str:
    """Return a sentence about rules whose queries cannot be asked about the past as a range."""
    names = ", ".join(
        f"{rule.name} ({'log search' if isinstance(rule.query, LogQuery) else 'check'})" for rule in rules
    )
    return f"Not replayable, because only Prometheus can evaluate a range: {names}."


def to_the_second(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}"


def _lines(found: ClusterBacktest, period: str) -> Iterator[str]:
    if not found.alerts:
        yield f"{found.cluster}: nothing fired from {period}."
    elif quiet := [replayed.rule.name for replayed in found.rules if not replayed.alerts]:
        yield f"Never fired: {', '.join(quiet)}."
    if found.blind:
        total = sum((span.length for span in found.blind), timedelta())
        spans = [f"{to_the_second(span.start)} ({humanize(span.length)})" for span in found.blind]
        yield (
            f"Prometheus recorded nothing for {humanize(total)}, where nothing was evaluated: "
            f"{some_of(spans, MAX_SPANS)}."
        )
    for replayed in found.rules:
        if replayed.unusable:
            yield f"Some results could not be used: {replayed.unusable}."
