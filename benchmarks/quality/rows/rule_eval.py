"""The alerts of public rules over public series, through a live Prometheus, as promtool has them.

The series of all cases are imported into one Prometheus, each case in a stretch of time of its own, and the product's
rule loop runs through each case, a cycle at a time, in the case's own time.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from alerts.loading import load
from alerts.rendering import RuleRenderer
from alerts.rules import Rule, Symbols, Timing
from benchmarks.quality.measure import Measure
from benchmarks.quality.promtool_series import SeriesSample, openmetrics, samples
from benchmarks.row import CannotRunError, Goal, Peer, Row
from bot.evaluation.scheduler import RuleScheduler
from collectors.facts.clock import duration
from collectors.facts.redaction import Redactor
from collectors.facts.topology import Topology
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from demo.parts.prometheus import PrometheusServer, import_openmetrics
from tests.support.routing import a_router

CLUSTER = "prod-a"
_FIRST = datetime(2026, 1, 1, tzinfo=UTC)
_GAP = timedelta(hours=7)  # between two cases: more than the longest range of the rules, 6 h
_MOMENTS = ("kube_job_status_start_time",)  # promtool's time begins at 0, so moments move with the case

AlertSet = frozenset[tuple[tuple[str, str], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One case of promtool: after `lasts`, the alerts of this name are `expected`."""

    alertname: str
    series: Mapping[str, str]
    every: timedelta
    lasts: timedelta
    start: datetime
    expected: AlertSet

    def samples(self) -> Iterator[SeriesSample]:
        for series, notation in self.series.items():
            plus = self.start.timestamp() if series.startswith(_MOMENTS) else 0
            yield from samples(series, notation, start=self.start, every=self.every, plus=plus)


async def run(file: Path) -> tuple[Row, ...]:
    cases = _cases(file)
    rules = _rules(file.with_name("rules.yaml"))
    with TemporaryDirectory(prefix="quality-") as name:
        folder = Path(name)
        await asyncio.to_thread(_import, cases, folder)
        decade = timedelta(days=3650)
        async with PrometheusServer(config="global: {}\n", folder=folder, retention=decade) as prometheus:
            source = PrometheusSource(PrometheusOptions(url=prometheus.url, freshness_query=""))
            try:
                ours = [await _play(case, rules, source) for case in cases]
                at_once = [await _play(case, rules, source, runs_through=False) for case in cases]
            finally:
                await source.close()
    return (
        Row(
            id="rule_eval",
            measure=f"of {len(cases)} cases of kubernetes-mixin's tests, alert sets equal to promtool's",
            value=_equal(cases, ours),
            peer=Peer(name="whatever a query returns, without `for`", value=_equal(cases, at_once)),
            goal=Goal(limit=len(cases), of_value=True, at_least=True),
        ),
    )


def _cases(file: Path) -> list[_Case]:
    raw: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    lengths = [duration(one["eval_time"]) for one in raw]
    starts = accumulate((length + _GAP for length in lengths), initial=timedelta())
    return [
        _Case(
            alertname=one["alertname"],
            series={series["series"]: series["values"] for series in one["input_series"]},
            every=duration(one["interval"]),
            lasts=length,
            start=_FIRST + start,
            expected=frozenset(tuple(sorted(labels.items())) for labels in one["firing"]),
        )
        for one, length, start in zip(raw, lengths, starts, strict=False)
    ]


def _rules(file: Path) -> Sequence[Rule]:
    loaded = load(file.read_bytes(), file=file.name, symbols=Symbols(), own=False)
    if loaded.diagnostics:
        raise CannotRunError(f"{file.name}: {loaded.diagnostics[0]}")
    return [rule for group in loaded.groups for rule in group.rules]


def _import(cases: Sequence[_Case], folder: Path) -> None:
    text = folder / "samples.om"
    text.write_text(openmetrics(one for case in cases for one in case.samples()), encoding="utf-8")
    import_openmetrics(text, folder)


async def _play(
    case: _Case, rules: Sequence[Rule], source: PrometheusSource, *, runs_through: bool = True
) -> AlertSet:
    """Return the alerts that fire at the end of the case, without `alertname`, after every cycle or only the last."""
    mine = [replace(rule, interval=case.every) for rule in rules if rule.name == case.alertname]
    if not runs_through:
        mine = [replace(rule, timing=Timing()) for rule in mine]
    renderer = RuleRenderer(lambda: Topology(cluster=CLUSTER), clean=Redactor(()).clean)
    scheduler = RuleScheduler(CLUSTER, mine, a_router(source), renderer)
    for cycle in range(0 if runs_through else case.lasts // case.every, case.lasts // case.every + 1):
        done = await scheduler.run_cycle(case.start + cycle * case.every)
        if done.blind:
            raise CannotRunError(f"a rule was blind: {dict(done.blind)}")
    return frozenset(
        tuple(sorted(alert.labels.without("alertname").items())) for alert in done.standing if alert.is_firing
    )


def _equal(cases: Sequence[_Case], found: Sequence[AlertSet]) -> int:
    return sum(case.expected == alerts for case, alerts in zip(cases, found, strict=True))


MEASURE = Measure(
    id="rule_eval",
    title="alerts of public rules through a live Prometheus",
    file="rule_eval/cases.json",
    run=run,
    needs_prometheus=True,
    limit=timedelta(minutes=5),
)
