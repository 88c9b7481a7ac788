"""A hole in what a real Prometheus recorded resolves nothing, whether it is backfilled or just over."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from alerts.lifecycle import AlertState
from alerts.rules import Rule
from bot.evaluation.scheduler import RuleScheduler
from collectors.facts.clock import SystemClock
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, QueryResult
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from collectors.sources.source_port import Source
from tests.real.fixtures import StartPrometheus
from tests.support.alerting import CLUSTER, a_renderer, a_rule, minutes
from tests.support.routing import QuietSource, a_router

SCRAPES = timedelta(seconds=15)
START = minutes(-90)  # of the data, before its end
OUTAGE = (minutes(-30), minutes(-27.25))
NODES = ("a01", "a02", "a03")
CYCLE = timedelta(seconds=15)


def samples(
    end: datetime, hole: tuple[timedelta, timedelta] | None, every: timedelta = SCRAPES
) -> Iterator[str]:
    """Nodes that are busy all the time, scraped at different offsets, with a hole."""
    for name, kind in (("up", "gauge"), ("busy_seconds", "counter")):
        yield f"# TYPE {name} {kind}"
        for number, node in enumerate(NODES):
            at = START + number * timedelta(seconds=4)
            while at < timedelta():
                if hole is None or not hole[0] <= at < hole[1]:
                    total = (at - START).total_seconds()
                    value, suffix = (1.0, "") if name == "up" else (total, "_total")
                    yield f'{name}{suffix}{{node="{node}"}} {value} {(end + at).timestamp():.3f}'
                at += every


@dataclass
class Unreachable(QuietSource):
    """A Prometheus that cannot be reached for a while."""

    source: PrometheusSource
    is_down: bool = False

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        return self._down(at) or await self.source.query(query, at=at)

    async def health(self, *, at: datetime) -> Blind | None:
        return self._down(at) or await self.source.health(at=at)

    async def hole(self, *, at: datetime) -> Blind | None:
        return self._down(at) or await self.source.hole(at=at)

    def _down(self, at: datetime) -> Blind | None:
        return Blind(source="prometheus", at=at, reason="refused") if self.is_down else None


RATE = replace(
    a_rule(
        "Busy",
        expr="rate(busy_seconds_total[2m]) > 0.8",
        presence="busy_seconds_total",
        keep_firing_for=minutes(2),
    ),
    interval=CYCLE,
)
GAUGE = replace(a_rule("Up", expr="up > 0"), interval=CYCLE)
AT_ONCE = replace(
    a_rule("Busy", expr="rate(busy_seconds_total[2m]) > 0.8", presence="busy_seconds_total"), interval=CYCLE
)
LONG = replace(
    a_rule("Busy", expr="rate(busy_seconds_total[5m]) > 0.8", keep_firing_for=minutes(2)), interval=CYCLE
)
SHORT_HOLE, LONG_HOLE = (minutes(-30), minutes(-27.25)), (minutes(-30), minutes(-23))


@pytest.mark.parametrize("every", [15, 30], ids=lambda one: f"scraped every {one} s")
@pytest.mark.parametrize(
    ("rule", "hole"),
    [
        pytest.param(RATE, SHORT_HOLE, id="a rate that decays in the hole"),
        pytest.param(AT_ONCE, SHORT_HOLE, id="such a rate that does not keep firing"),
        pytest.param(LONG, LONG_HOLE, id="a rate over longer than it keeps firing"),
        pytest.param(GAUGE, LONG_HOLE, id="a gauge that ends in the hole"),
    ],
)
async def test_nothing_resolves_when_prometheus_is_back_after_a_hole(
    start_prometheus: StartPrometheus, rule: Rule, hole: tuple[timedelta, timedelta], every: int
) -> None:
    end = SystemClock().now() - minutes(10)
    server = start_prometheus(samples=samples(end, hole, timedelta(seconds=every)))
    async with _source(server.url) as source:
        resolved, blind = await _cycles(Unreachable(source), rule, end, hole)
    assert resolved == []
    assert min(blind) == hole[0]
    assert hole[1] <= max(blind) < hole[1] + minutes(1.5)


async def test_nothing_resolves_when_this_process_is_back_after_the_same_hole(
    start_prometheus: StartPrometheus,
) -> None:
    end = SystemClock().now() - minutes(10)
    hole = (minutes(-30), minutes(-23))
    server = start_prometheus(samples=samples(end, hole))
    async with _source(server.url) as source:
        before = _scheduler(source, GAUGE)
        standing = (await before.run_cycle(end + hole[0])).standing
        after = _scheduler(source, GAUGE)
        after.restore(standing, before.progress, end + hole[1])
        cycles = [await after.run_cycle(end + hole[1] + count * CYCLE) for count in range(8)]
    assert [change for cycle in cycles for change in cycle.changes] == []
    assert [bool(cycle.blind) for cycle in cycles] == [True] * 2 + [False] * 6
    assert len(cycles[-1].standing) == len(NODES)


async def test_a_lost_connection_without_a_hole_is_over_at_once(start_prometheus: StartPrometheus) -> None:
    end = SystemClock().now() - minutes(10)
    server = start_prometheus(samples=samples(end, None))
    async with _source(server.url) as source:
        resolved, blind = await _cycles(Unreachable(source), RATE, end, OUTAGE)
    assert resolved == []
    assert (min(blind), max(blind)) == (OUTAGE[0], OUTAGE[1] - CYCLE)


@asynccontextmanager
async def _source(url: str) -> AsyncIterator[PrometheusSource]:
    source = PrometheusSource(PrometheusOptions(url=url))
    try:
        yield source
    finally:
        await source.close()


def _scheduler(metrics: Source, rule: Rule) -> RuleScheduler:
    router = a_router(metrics, has_cluster=False)
    return RuleScheduler(CLUSTER, (rule,), router, a_renderer())


async def _cycles(
    metrics: Unreachable,
    rule: Rule,
    end: datetime,
    outage: tuple[timedelta, timedelta],
) -> tuple[list[timedelta], list[timedelta]]:
    """Run a cycle every 15 s. Return when alerts were resolved, and when the rule was blind."""
    scheduler = _scheduler(metrics, rule)
    resolved: list[timedelta] = []
    blind: list[timedelta] = []
    at = outage[0] - minutes(5)
    while at < outage[1] + minutes(6):
        metrics.is_down = outage[0] <= at < outage[1]
        cycle = await scheduler.run_cycle(end + at)
        resolved += [one.at - end for one in cycle.changes if one.alert.life.state is AlertState.RESOLVED]
        blind += [at] if cycle.blind else []
        at += CYCLE
    assert {alert.labels["node"] for alert in cycle.standing} == set(NODES)
    return resolved, blind
