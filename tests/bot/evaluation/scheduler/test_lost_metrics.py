"""Metrics that rules relied on and that are gone: one alert for each exporter, which lasts until they are back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.incidents.group_keys import group_key_of
from bot.evaluation.scheduler import RuleScheduler
from collectors.check_catalogue import CHECKS
from collectors.facts.missing_metrics import MissingCause, MissingMetrics
from collectors.facts.queries import CheckQuery, Query
from collectors.facts.results import Blind
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_rule, an_alert, minutes
from tests.support.routing import QuietSource, a_router

LOST = replace(
    a_rule("RuleMetricsLost", for_=minutes(10), summary="{{ $labels.component }} gives none."),
    query=CheckQuery(name="metrics-lost"),
)
NEVER = replace(
    a_rule("RuleMetricsNeverThere", summary="never"), query=CheckQuery(name="metrics-never-there")
)
RULES = (a_rule("Load", expr="node_load1 > 1"), a_rule("Memory", expr="node_memory_a < 1"), LOST, NEVER)
GONE = MissingMetrics(
    exporter="node_exporter",
    metrics=("node_load1", "node_memory_a"),
    rules=("Load", "Memory"),
    cause=MissingCause.NO_TARGET,
    lost=("node_load1", "node_memory_a"),
)
DAY = timedelta(days=1)


@dataclass
class Lacking(QuietSource):
    """A source that lacks these metrics."""

    lacks: Sequence[MissingMetrics] | Blind = (GONE,)
    asked: list[frozenset[str]] = field(default_factory=list)

    async def missing(
        self, queries: Mapping[str, Query], *, at: datetime
    ) -> Sequence[MissingMetrics] | Blind:
        self.asked.append(frozenset(queries))
        return self.lacks


def a_scheduler(source: Lacking) -> RuleScheduler:
    return RuleScheduler(CLUSTER, RULES, a_router(source, checks=CHECKS), a_renderer())


async def lost(scheduler: RuleScheduler, after: timedelta) -> list[Alert]:
    cycle = await scheduler.run_cycle(NOON + after)
    return [alert for alert in cycle.standing if alert.name == "RuleMetricsLost" and alert.is_firing]


async def test_they_are_one_alert_for_all_rules_and_the_source_is_asked_once_a_cycle() -> None:
    source = Lacking()
    scheduler = a_scheduler(source)
    assert await lost(scheduler, minutes(0)) == []
    (alert,) = await lost(scheduler, minutes(10))
    assert (alert.labels["component"], alert.labels["extent"]) == ("node_exporter", "all")
    assert alert.value == 2
    assert source.asked == [frozenset({"Load", "Memory"})] * 2


async def test_it_outlasts_what_the_server_remembers_and_a_restart() -> None:
    source = Lacking()
    scheduler = a_scheduler(source)
    await lost(scheduler, minutes(0))
    (alert,) = await lost(scheduler, minutes(10))

    source.lacks = (replace(GONE, lost=()),)  # longer ago than the server keeps
    (same,) = await lost(scheduler, 15 * DAY)
    restarted = a_scheduler(source)
    restarted.restore([same], {LOST.id: NOON + 15 * DAY}, NOON + 16 * DAY)
    (still,) = await lost(restarted, 16 * DAY)
    assert (same.id, still.id, still.life.since) == (alert.id, alert.id, alert.life.since)

    source.lacks = (replace(GONE, lost=(), cause=MissingCause.NOT_EXPORTED, metrics=("node_md_a",)),)
    assert await lost(restarted, 17 * DAY) == []


async def test_while_the_source_is_blind_nothing_is_resolved() -> None:
    source = Lacking()
    scheduler = a_scheduler(source)
    await lost(scheduler, minutes(0))
    await lost(scheduler, minutes(10))
    source.lacks = Blind(source="prometheus", at=NOON, reason="too many samples")
    assert len(await lost(scheduler, minutes(20))) == 1


async def test_what_was_never_there_on_a_quiet_cluster_does_not_alert() -> None:
    source = Lacking(lacks=(replace(GONE, lost=()),))
    scheduler = a_scheduler(source)
    for minute in range(21):
        assert await lost(scheduler, minutes(minute)) == []


def test_it_joins_the_incident_of_the_same_exporter() -> None:
    for exporter, other in (
        ("kube-state-metrics", "KubeStateMetricsMissing"),
        ("dcgm-exporter", "GPUMetricsMissing"),
    ):
        ours = an_alert("RuleMetricsLost", component=exporter, extent="all")
        assert group_key_of(ours) == group_key_of(an_alert(other, component=exporter))
