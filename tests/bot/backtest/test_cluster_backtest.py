"""A backtest on what a real Prometheus recorded."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from alerts.lifecycle import AlertState
from alerts.rules import Rule, Timing
from bot.backtest.cluster_backtest import ClusterBacktest, Period, backtest_cluster
from bot.evaluation.scheduler import RuleScheduler
from collectors.facts.clock import SystemClock
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from tests.bot.backtest.recorded import LENGTH, recorded
from tests.real.fixtures import StartPrometheus
from tests.support.alerting import CLUSTER, a_renderer, a_rule, minutes
from tests.support.routing import a_router

STEP = timedelta(seconds=30)
HOT = replace(a_rule("Hot", expr="heat > 83"), interval=STEP)
RULES = (
    HOT,
    replace(HOT, id="slow", name="Slow", timing=Timing(for_=minutes(5), keep_firing_for=minutes(2))),
    replace(
        a_rule("Seen", expr="heat > 83", presence="heat < 150", labels={"at": "{{ $value }}"}), interval=STEP
    ),
    replace(a_rule("Never", expr="heat < 0"), interval=STEP),
)


def wave(gpu: str, minute: float) -> float:
    """GPU 0 is hot from minute 20 to 40 with a dip, GPU 1 for a moment, GPU 2 from 80 on and its sensor breaks."""
    match gpu:
        case "0":
            return 91.5 if 20 <= minute < 30 or 31.5 <= minute < 40 else 60
        case "1":
            return 95 if 50 <= minute < 52 else 60
        case _:
            return 60 if minute < 75 else 88 if minute < 85 else 9.2e18


def ended(at: datetime, rule: Rule, found: ClusterBacktest) -> list[tuple[str, float, float | None, float]]:
    """The alerts of a rule: GPU, the minutes of start and end, peak."""
    start = at - LENGTH
    return [
        (
            alert.labels["gpu"],
            (alert.started - start) / minutes(1),
            None if alert.ended is None else (alert.ended - start) / minutes(1),
            alert.peak,
        )
        for alert in found.alerts
        if alert.rule == rule.name
    ]


@asynccontextmanager
async def reading(url: str) -> AsyncIterator[PrometheusSource]:
    reader = PrometheusSource(PrometheusOptions(url=url, timeout=timedelta(seconds=30)))
    try:
        yield reader
    finally:
        await reader.close()


async def backtest(
    reader: PrometheusSource, period: Period, *rules: Rule, step: timedelta | None = None
) -> ClusterBacktest:
    return await backtest_cluster(
        CLUSTER, rules, period, reader, options=reader.settings, renderer=a_renderer(), step=step
    )


def an_end() -> datetime:
    """A moment in the past, so that everything before it can be imported."""
    return SystemClock().now().replace(microsecond=0) - minutes(10)


async def test_it_fires_what_live_evaluation_of_the_same_moments_fires(
    start_prometheus: StartPrometheus,
) -> None:
    end = an_end()
    period = Period(start=end - LENGTH + minutes(6), end=end - minutes(1))
    server = start_prometheus(samples=recorded(end, wave))
    async with reading(server.url) as reader:
        found = await backtest(reader, period, *RULES)
    source = PrometheusSource(PrometheusOptions(url=server.url))
    router = a_router(source, has_cluster=False)
    scheduler = RuleScheduler(CLUSTER, RULES, router, a_renderer())
    live: list[tuple[str, str, datetime]] = []
    try:
        now = period.start
        while now <= period.end:
            cycle = await scheduler.run_cycle(now)
            assert not cycle.blind
            live += [
                (change.alert.name, change.alert.life.state.value, change.at)
                for change in cycle.changes
                if change.alert.life.state is not AlertState.PENDING
            ]
            now += STEP
    finally:
        await source.close()
    replayed = [(alert.rule, "firing", alert.started) for alert in found.alerts]
    replayed += [(alert.rule, "resolved", alert.ended) for alert in found.alerts if alert.ended]
    assert sorted(replayed) == sorted(live)
    assert {alert.rule for alert in found.alerts} == {"Hot", "Slow", "Seen"}
    assert (found.failed, found.blind) == ({}, ())


async def test_an_alert_has_its_start_its_end_and_its_peak(start_prometheus: StartPrometheus) -> None:
    end = an_end()
    server = start_prometheus(samples=recorded(end, wave))
    async with reading(server.url) as reader:
        period = Period(start=end - LENGTH + minutes(5), end=end - minutes(1))
        found = await backtest(reader, period, *RULES, step=minutes(1))
    assert ended(end, HOT, found) == [
        ("0", 20, 30, 91.5),
        ("0", 32, 40, 91.5),
        ("1", 51, 53, 95),
        ("2", 76, None, 9.2e18),
    ]
    assert ended(end, RULES[1], found) == [("0", 25, 42, 91.5), ("2", 81, None, 9.2e18)]


async def test_what_was_active_before_the_period_has_waited_already(
    start_prometheus: StartPrometheus,
) -> None:
    end = an_end()
    server = start_prometheus(samples=recorded(end, wave))
    async with reading(server.url) as reader:
        period = Period(start=end - LENGTH + minutes(28), end=end - LENGTH + minutes(60))
        found = await backtest(reader, period, RULES[1], step=minutes(1))
    assert ended(end, RULES[1], found) == [("0", 28, 42, 91.5)]


@pytest.mark.parametrize(
    ("rule", "hole"),
    [
        pytest.param(HOT, (minutes(30), minutes(37)), id="longer than the look-back"),
        pytest.param(
            replace(a_rule("Often", expr="count_over_time(heat[1m]) >= 2"), interval=STEP),
            (minutes(30), minutes(33)),
            id="longer than a window",
        ),
    ],
)
async def test_a_hole_ends_no_alert(
    start_prometheus: StartPrometheus, rule: Rule, hole: tuple[timedelta, timedelta]
) -> None:
    end = an_end()
    server = start_prometheus(samples=recorded(end, lambda _gpu, _minute: 90, holes=(hole,)))
    async with reading(server.url) as reader:
        period = Period(start=end - LENGTH + minutes(10), end=end - minutes(1))
        found = await backtest(reader, period, rule)
    assert [alert.ended for alert in found.alerts] == [None, None, None]
    (blind,) = found.blind
    first, last = (at - (end - LENGTH) for at in (blind.start, blind.end))
    assert hole[0] <= first <= hole[0] + minutes(1)
    assert hole[1] <= last <= hole[1] + minutes(1.5)


async def test_a_rule_that_cannot_be_replayed_does_not_stop_the_others(
    start_prometheus: StartPrometheus,
) -> None:
    end = an_end()
    server = start_prometheus(samples=recorded(end, wave))
    bad = replace(a_rule("Bad", expr="heat + on () heat"), interval=STEP)
    ambiguous = replace(
        a_rule("Twice", expr='label_replace(heat > 83, "gpu", "", "", "") or heat > 83', labels={"gpu": "x"}),
        interval=STEP,
    )
    async with reading(server.url) as reader:
        found = await backtest(
            reader, Period(start=end - minutes(40), end=end - minutes(1)), bad, ambiguous, HOT
        )
    assert "422" in found.failed["Bad"]
    assert [replayed.rule.name for replayed in found.rules] == ["Twice", "Hot"]
    assert "have the same labels" in found.rules[0].unusable
    assert found.alerts
