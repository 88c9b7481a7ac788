"""Metrics of rules that have no series: which, why, and whether they existed before."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from collectors.facts.missing_metrics import MissingCause, MissingMetrics
from collectors.facts.promql.grammar import parse
from collectors.facts.promql.selectors import metric_names
from collectors.facts.promql.tokenizing import PromQLSyntaxError
from collectors.facts.promql.tree import Binary, Call, Part, VectorSelector
from collectors.facts.results import Blind, QueryResult
from collectors.sources.prometheus.dcgm_counters import counter_lines
from collectors.sources.prometheus.exporters import MetricExporter, exporter_of

# How long ago what is missing is looked for: what was there then, rules relied on.
_BEFORE = tuple(timedelta(hours=hours) for hours in (1, 6, 24, 3 * 24, 7 * 24, 14 * 24))
LONGEST_BEFORE = _BEFORE[-1]


class InstantQuery(Protocol):
    async def __call__(self, expr: str, at: datetime) -> QueryResult: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """The metrics of rules' expressions: how many series each has now, and what is missing by exporter."""

    series: Mapping[str, float]
    missing: tuple[MissingMetrics, ...]
    down: Mapping[str, tuple[float, float]]  # job -> how many of its targets are down, of how many


async def presence_of(
    ask: InstantQuery, expressions: Mapping[str, str], at: datetime, *, unexposed: Collection[str] = ()
) -> Presence | Blind:
    """Return what these expressions, by the rule's name, can see as of now.

    `unexposed`: the names of exporters whose metrics nobody expects here.
    """
    names = frozenset().union(*(metric_names(expr) for expr in expressions.values()))
    series = await _series(ask, names, at)
    if isinstance(series, Blind):
        return series
    down = await _down(ask, at)
    if isinstance(down, Blind):
        return down
    needed = {name: missing_metrics(expr, series.keys()) for name, expr in expressions.items()}
    missing = frozenset().union(*needed.values())
    before = await _before(ask, missing, at)
    if isinstance(before, Blind):
        return before
    by_exporter: dict[MetricExporter, set[str]] = defaultdict(set)
    for metric in missing:
        by_exporter[exporter_of(metric)].add(metric)
    given = {exporter_of(name) for name in series}
    dead = [job for job, (broken, every) in down.items() if broken == every]
    found = [
        _missing_of(
            exporter,
            metrics,
            needs={rule: some & metrics for rule, some in needed.items() if some & metrics},
            before=before,
            gives_others=exporter in given,
            is_replaced=any(one.instead_of == exporter.name for one in given if exporter.name),
            dead=dead,
            is_unexposed=exporter.name in unexposed,
        )
        for exporter, metrics in sorted(by_exporter.items(), key=lambda pair: pair[0].name)
    ]
    return Presence(series=series, missing=tuple(found), down=down)


def missing_metrics(expr: str, present: Collection[str]) -> frozenset[str]:
    """Return the metrics without which the expression has no result, as long as these are present.

    A metric is not needed where `or` has another, after `unless`, or in `absent`.
    """
    try:
        return _needed(parse(expr), present)
    except PromQLSyntaxError:
        return frozenset()


def _needed(node: Part, present: Collection[str]) -> frozenset[str]:
    if isinstance(node, VectorSelector):
        return frozenset({node.metric} if node.metric and node.metric not in present else ())
    if isinstance(node, Call) and node.name.startswith("absent"):
        return frozenset()
    operator = node.operator if isinstance(node, Binary) else ""
    needed = [_needed(inner, present) for inner in node.inner[: 1 if operator == "unless" else None]]
    return frozenset() if operator == "or" and not all(needed) else frozenset().union(*needed)


def _missing_of(
    exporter: MetricExporter,
    metrics: Collection[str],
    *,
    needs: Mapping[str, Collection[str]],
    before: Mapping[str, frozenset[str]],
    gives_others: bool,
    is_replaced: bool,
    dead: Iterable[str],
    is_unexposed: bool,
) -> MissingMetrics:
    scraped_by = frozenset().union(*(before.get(name, frozenset()) for name in metrics))
    jobs = tuple(sorted(job for job in dead if job in scraped_by or exporter.scrapes(job)))
    cause = MissingCause.NO_TARGET
    if gives_others:
        cause, jobs = MissingCause.NOT_EXPORTED, ()
    elif jobs and exporter.name:
        cause = MissingCause.TARGET_DOWN
    lost = (name for name in metrics if name in before and (exporter.is_steady(name) or not gives_others))
    is_optional = exporter.is_optional or is_replaced or is_unexposed
    return MissingMetrics(
        exporter=exporter.name,
        metrics=tuple(sorted(metrics)),
        rules=tuple(sorted(needs)),
        needs=tuple((rule, tuple(sorted(some))) for rule, some in sorted(needs.items())),
        cause=cause,
        lost=tuple(sorted(lost)) if exporter.name and not is_unexposed else (),
        always=tuple(sorted(set(metrics) & set(exporter.always))),
        jobs=jobs,
        fix=exporter.fix,
        lines=counter_lines(metrics) if gives_others else (),
        is_optional=is_optional,
        is_control_plane=exporter.is_control_plane,
    )


async def _series(ask: InstantQuery, names: Collection[str], at: datetime) -> Mapping[str, float] | Blind:
    """Return how many series each of these metrics has; those without are left out."""
    if not names:
        return {}
    found = await ask(f'count by (__name__) ({{__name__=~"{_any(names)}"}})', at)
    if isinstance(found, Blind):
        return found
    return {sample.labels.get("__name__", ""): sample.value for sample in found.samples}


async def _before(
    ask: InstantQuery, names: Collection[str], at: datetime
) -> Mapping[str, frozenset[str]] | Blind:
    """Return which of these metrics had series before, with the jobs that gave them."""
    jobs: dict[str, set[str]] = defaultdict(set)
    for ago in _BEFORE if names else ():
        found = await ask(f'count by (__name__, job) ({{__name__=~"{_any(names)}"}})', at - ago)
        if isinstance(found, Blind):
            return found
        for sample in found.samples:
            jobs[sample.labels.get("__name__", "")].add(sample.labels.get("job", ""))
    return {name: frozenset(some) for name, some in jobs.items()}


async def _down(ask: InstantQuery, at: datetime) -> Mapping[str, tuple[float, float]] | Blind:
    """Return how many targets of each job are down, of how many; jobs without any are left out."""
    found = await ask("count by (job) (up == 0)", at)
    if isinstance(found, Blind) or not found.samples:
        return found if isinstance(found, Blind) else {}
    every = await ask("count by (job) (up)", at)
    if isinstance(every, Blind):
        return every
    counts = {sample.labels.get("job", ""): sample.value for sample in every.samples}
    down = {sample.labels.get("job", ""): sample.value for sample in found.samples}
    return {job: (count, counts.get(job, count)) for job, count in down.items()}


def _any(names: Collection[str]) -> str:
    return "|".join(sorted(names))
