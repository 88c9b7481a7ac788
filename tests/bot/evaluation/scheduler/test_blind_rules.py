"""Rules that are blind while their source is not: `rule-blind` reports them while it lasts, `source-blind` does not."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from alerts.rules import Rule
from bot.evaluation.scheduler import RuleScheduler
from collectors.check_catalogue import CHECKS
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery
from collectors.facts.results import Blind, QueryResult
from collectors.query_router import QueryRouter
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_rule, minutes
from tests.support.evaluation import Canned, hot
from tests.support.log_matches import message
from tests.support.routing import QuietSource, a_router

GOOD = tuple(a_rule(f"R{number}") for number in range(30))
BAD = a_rule("Bad", expr="bad")
SELF_CHECKS = tuple(
    replace(a_rule(name), query=CheckQuery(name=check))
    for name, check in (("YardmasterRuleBlind", "rule-blind"), ("YardmasterSourceBlind", "source-blind"))
)


@dataclass(slots=True)
class Partial(Canned):
    """Answers every query but one."""

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        if query.expr == "bad":
            return Blind(source="prometheus", at=at, reason="many-to-many matching")
        return await Canned.query(self, query, at=at)


def a_scheduler(*rules: Rule, metrics: Canned | None = None) -> tuple[RuleScheduler, QueryRouter]:
    metrics = metrics or Partial(hot())
    router = a_router(metrics, checks=CHECKS)
    return RuleScheduler(CLUSTER, (*rules, *SELF_CHECKS), router, a_renderer()), router


async def blind_rules(scheduler: RuleScheduler, minute: float) -> list[str]:
    cycle = await scheduler.run_cycle(NOON + minutes(minute))
    return [alert.labels["rule"] for alert in cycle.standing if alert.name == "YardmasterRuleBlind"]


async def test_a_removed_rule_is_no_longer_blind() -> None:
    scheduler, _router = a_scheduler(*GOOD, BAD)
    before = await blind_rules(scheduler, 0)

    scheduler.swap((*GOOD, *SELF_CHECKS))

    assert before == [BAD.id]
    assert await blind_rules(scheduler, 1) == []


async def test_a_rule_that_is_evaluated_at_its_own_times_does_not_make_its_source_blind() -> None:
    scheduler, router = a_scheduler(*GOOD)
    await scheduler.run_cycle(NOON)
    scheduler.swap((*GOOD, BAD, *SELF_CHECKS))
    now, blind = NOON + timedelta(seconds=20), []

    for _ in range(8):
        await scheduler.run_cycle(now)
        blind += [
            one.source for one in router.sources(at=now) if one.blind_for and one.source == "prometheus"
        ]
        now = scheduler.next_due(now)

    assert blind == []
    assert await blind_rules(scheduler, 9) == [BAD.id]


async def test_a_source_that_fails_most_queries_is_blind_and_recovers_at_once() -> None:
    bad = tuple(replace(BAD, id=f"bad/{number}") for number in range(3))
    scheduler, router = a_scheduler(GOOD[0], *bad)
    await scheduler.run_cycle(NOON)
    during = [one.source for one in router.sources(at=NOON + minutes(1)) if one.blind_for]

    scheduler.swap((GOOD[0], *SELF_CHECKS))
    await scheduler.run_cycle(NOON + minutes(1))

    assert "prometheus" in during
    assert "prometheus" not in [one.source for one in router.sources(at=NOON + minutes(2)) if one.blind_for]


async def test_a_rule_with_an_unusable_result_is_blind_until_the_result_is_usable() -> None:
    metrics = Canned(lambda _expr, _at: {f"n{number}": 90.0 for number in range(5)})
    scheduler, _router = a_scheduler(replace(GOOD[0], limit=4), metrics=metrics)
    await scheduler.run_cycle(NOON)
    during = await blind_rules(scheduler, 1)

    metrics.heat = hot((0, 9))
    await scheduler.run_cycle(NOON + minutes(2))

    assert during == [GOOD[0].id]
    assert await blind_rules(scheduler, 3) == []


@pytest.mark.parametrize("has_cluster", [True, False])
async def test_a_source_that_is_not_configured_is_not_reported_as_blind(*, has_cluster: bool) -> None:
    router = a_router(Canned(hot()), checks=CHECKS, has_cluster=has_cluster)
    scheduler = RuleScheduler(CLUSTER, (*GOOD, *SELF_CHECKS), router, a_renderer())

    cycle = await scheduler.run_cycle(NOON)

    blind = [alert.labels["component"] for alert in cycle.standing if alert.name == "YardmasterSourceBlind"]
    assert blind == (["kubernetes"] if has_cluster else [])


@dataclass
class ShippedLogs(QuietSource):
    """Logs without a hit for any query; `is_shipped` says whether new lines arrive."""

    name = "elasticsearch"
    query_types = frozenset({LogQuery})
    is_shipped: bool = True

    async def health(self, *, at: datetime) -> Blind | None:
        return None if self.is_shipped else Blind(source="elasticsearch", at=at, reason="no recent line")


async def test_logs_that_stop_arriving_are_blind() -> None:
    logs = ShippedLogs()
    logged = replace(a_rule("Logged"), query=LogQuery(match=message("x"), by=("node",), over=minutes(5)))
    router = a_router(logs, checks=CHECKS)
    scheduler = RuleScheduler(CLUSTER, (logged, *SELF_CHECKS), router, a_renderer())
    await scheduler.run_cycle(NOON)
    logs.is_shipped = False

    during = await scheduler.run_cycle(NOON + minutes(1))

    assert during.blind == {logged.id: "no recent line"}
    assert ("elasticsearch", minutes(0)) in [
        (one.source, one.blind_for) for one in router.sources(at=NOON + minutes(1))
    ]
