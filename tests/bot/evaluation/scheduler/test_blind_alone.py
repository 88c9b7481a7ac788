"""Which rule is blind alone: told by the check of our own sight, for as long as it is so, and not as its source's."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest

from alerts.rules import Rule
from bot.evaluation.scheduler import RuleScheduler
from collectors.checks.catalogue import CHECKS
from collectors.facts.queries import CheckQuery, LogQuery, PromQLQuery
from collectors.facts.results import Blind, QueryResult, Seen
from collectors.query_router import QueryRouter
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_rule, minutes
from tests.support.evaluation import Canned, hot, no_cluster

GOOD = tuple(a_rule(f"R{number}") for number in range(30))
BAD = a_rule("Bad", expr="bad")
OWN_SIGHT = tuple(
    replace(a_rule(name), query=CheckQuery(name=check))
    for name, check in (("YardmasterRuleBlind", "rule-blind"), ("YardmasterSourceBlind", "source-blind"))
)


@dataclass(slots=True)
class Partial(Canned):
    """Answers all but one question."""

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        if query.expr == "bad":
            return Blind(source="prometheus", at=at, reason="many-to-many matching")
        return await Canned.query(self, query, at=at)


def judging(*rules: Rule, metrics: Canned | None = None) -> tuple[RuleScheduler, QueryRouter]:
    metrics = metrics or Partial(hot())
    router = QueryRouter(metrics=metrics, logs=None, checks=CHECKS, check_input=no_cluster)
    return RuleScheduler(CLUSTER, (*rules, *OWN_SIGHT), router, a_renderer()), router


async def blind_alone(judge: RuleScheduler, minute: float) -> list[str]:
    found = await judge.run_cycle(NOON + minutes(minute))
    return [alert.labels["rule"] for alert in found.standing if alert.name == "YardmasterRuleBlind"]


async def test_a_rule_that_is_gone_is_blind_no_more() -> None:
    judge, _router = judging(*GOOD, BAD)
    before = await blind_alone(judge, 0)

    judge.swap((*GOOD, *OWN_SIGHT))

    assert before == [BAD.id]
    assert await blind_alone(judge, 1) == []


async def test_a_rule_that_is_asked_at_moments_of_its_own_does_not_make_its_source_blind() -> None:
    judge, router = judging(*GOOD)
    await judge.run_cycle(NOON)
    judge.swap((*GOOD, BAD, *OWN_SIGHT))
    now, blind = NOON + timedelta(seconds=20), []

    for _ in range(8):
        await judge.run_cycle(now)
        blind += [
            one.source for one in router.sources(at=now) if one.blind_for and one.source == "prometheus"
        ]
        now = judge.next_due(now)

    assert blind == []
    assert await blind_alone(judge, 9) == [BAD.id]


async def test_a_source_that_answers_hardly_anything_is_blind_and_whole_again_at_once() -> None:
    bad = tuple(replace(BAD, id=f"bad/{number}") for number in range(3))
    judge, router = judging(GOOD[0], *bad)
    await judge.run_cycle(NOON)
    during = [one.source for one in router.sources(at=NOON + minutes(1)) if one.blind_for]

    judge.swap((GOOD[0], *OWN_SIGHT))
    await judge.run_cycle(NOON + minutes(1))

    assert "prometheus" in during
    assert "prometheus" not in [one.source for one in router.sources(at=NOON + minutes(2)) if one.blind_for]


async def test_an_answer_that_cannot_be_used_is_told_until_it_can() -> None:
    metrics = Canned(lambda _expr, _at: {f"n{number}": 90.0 for number in range(5)})
    judge, _router = judging(replace(GOOD[0], limit=4), metrics=metrics)
    await judge.run_cycle(NOON)
    during = await blind_alone(judge, 1)

    metrics.heat = hot((0, 9))
    await judge.run_cycle(NOON + minutes(2))

    assert during == [GOOD[0].id]
    assert await blind_alone(judge, 3) == []


@pytest.mark.parametrize("has_cluster", [True, False])
async def test_a_source_that_the_settings_leave_out_is_not_called_blind(*, has_cluster: bool) -> None:
    router = QueryRouter(
        metrics=Canned(hot()), logs=None, checks=CHECKS, check_input=no_cluster, has_cluster=has_cluster
    )
    judge = RuleScheduler(CLUSTER, (*GOOD, *OWN_SIGHT), router, a_renderer())

    found = await judge.run_cycle(NOON)

    blind = [alert.labels["component"] for alert in found.standing if alert.name == "YardmasterSourceBlind"]
    assert blind == (["kubernetes"] if has_cluster else [])


@dataclass(slots=True)
class Shipped:
    """Logs that answer everything with nothing, and that somebody ships or not."""

    is_shipped: bool = True

    async def search(self, _query: LogQuery, *, at: datetime) -> QueryResult:
        return Seen(source="elasticsearch", at=at, samples=())

    async def health(self, *, at: datetime) -> Blind | None:
        return None if self.is_shipped else Blind(source="elasticsearch", at=at, reason="no line of late")


async def test_logs_that_nobody_ships_are_blind_and_not_well() -> None:
    logs = Shipped()
    logged = replace(a_rule("Logged"), query=LogQuery(match="x", by=("node",), over=minutes(5)))
    router = QueryRouter(metrics=None, logs=logs, checks=CHECKS, check_input=no_cluster)
    judge = RuleScheduler(CLUSTER, (logged, *OWN_SIGHT), router, a_renderer())
    await judge.run_cycle(NOON)
    logs.is_shipped = False

    during = await judge.run_cycle(NOON + minutes(1))

    assert during.blind == {logged.id: "no line of late"}
    assert ("elasticsearch", minutes(0)) in [
        (one.source, one.blind_for) for one in router.sources(at=NOON + minutes(1))
    ]
