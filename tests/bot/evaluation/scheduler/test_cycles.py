"""Evaluation cycles: what is due, what a blind source costs, and what is backfilled after it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from alerts.lifecycle import AlertState
from bot.evaluation.backfill import TRIES
from bot.evaluation.rule_state import MAX_MISSED
from bot.evaluation.scheduler import RuleScheduler
from collectors.check_catalogue import CHECKS
from collectors.facts.labels import Labels
from collectors.facts.queries import CheckQuery, PromQLQuery
from collectors.facts.results import Blind, QueryResult
from collectors.query_router import CONCURRENCY
from tests.support.alerting import CLUSTER, NOON, a_renderer, a_rule, an_alert, minutes
from tests.support.evaluation import EVERY, Canned, EvaluationStage, hot
from tests.support.examples import share
from tests.support.routing import a_router

RULE = a_rule(for_=minutes(3), keep_firing_for=minutes(2))
PRESENT = (Labels({"node": "gpu-a01"}),)


def dark_in(*spans: tuple[int, int]) -> Canned:
    def dark(at: datetime) -> bool:
        return any(begin <= (at - NOON) / EVERY < end for begin, end in spans)

    return Canned(hot(), dark=dark)


async def test_a_rule_is_evaluated_at_its_own_interval() -> None:
    slow = replace(a_rule("Slow"), interval=minutes(5))
    yard = EvaluationStage(rules=(RULE, slow), metrics=Canned(hot()))

    evaluated = [(await yard.round(minute)).evaluated for minute in range(7)]

    assert [slow.id in ids for ids in evaluated] == [True, False, False, False, False, True, False]
    assert all(RULE.id in ids for ids in evaluated)
    assert yard.scheduler.next_due(NOON + minutes(6)) == NOON + minutes(7)


async def test_a_late_cycle_does_not_shift_the_next_or_run_twice() -> None:
    yard = EvaluationStage(rules=(RULE,), metrics=Canned(hot()))
    await yard.scheduler.run_cycle(NOON)

    late = await yard.scheduler.run_cycle(NOON + minutes(3.5))

    assert late.evaluated == {RULE.id}
    assert yard.scheduler.next_due(NOON + minutes(3.5)) == NOON + minutes(4)


async def test_a_loop_that_wakes_a_little_late_keeps_no_alert_waiting() -> None:
    yard = EvaluationStage(rules=(RULE,), metrics=Canned(hot((1, 60))))
    await yard.round(0)

    late = [
        await yard.round(minute + seconds / 60)
        for minute, seconds in ((1, 0.3), (2, 0.1), (3, 0.2), (4, 0.05))
    ]

    assert [cycle.at for cycle in late] == [NOON + minutes(minute) for minute in range(1, 5)]
    assert [alert.is_firing for alert in late[-1].standing] == [True]


async def test_checks_that_are_brought_forward_keep_their_own_times() -> None:
    check = replace(a_rule("Checked"), query=CheckQuery(name="node-not-ready"))
    yard = EvaluationStage(rules=(RULE, check), metrics=Canned(hot()))
    yard.router = a_router(yard.metrics, checks=CHECKS)
    yard.scheduler = RuleScheduler(CLUSTER, yard.rules, yard.router, a_renderer())
    await yard.round(0)

    yard.scheduler.bring_checks_forward(frozenset({"nodes"}))
    between = await yard.round(0.4)

    assert (between.evaluated | between.blind.keys()) == {check.id}
    assert between.at == NOON + minutes(0.4)
    assert {RULE.id, check.id} == (after := await yard.round(1)).evaluated | after.blind.keys()
    assert yard.scheduler.next_due(NOON + minutes(1)) == NOON + minutes(2)


async def test_a_blind_source_resolves_nothing_and_is_reported() -> None:
    metrics = dark_in((5, 60))
    metrics.heat = hot((0, 6))
    yard = EvaluationStage(rules=(RULE,), metrics=metrics)

    cycles = [await yard.round(minute) for minute in range(60)]

    assert [len(cycle.changes) for cycle in cycles[5:]] == [0] * 55
    assert all(cycle.blind == {RULE.id: "refused"} and not cycle.evaluated for cycle in cycles[5:])
    assert [alert.life.state for alert in cycles[-1].standing] == [AlertState.FIRING]


async def test_an_alert_that_fired_and_resolved_while_blind_is_backfilled() -> None:
    metrics = dark_in((2, 20))
    metrics.heat = hot((4, 12))
    yard = EvaluationStage(rules=(RULE,), metrics=metrics)
    await yard.run(20)

    back = await yard.round(20)

    assert [(change.alert.life.state, change.at) for change in back.changes] == [
        (AlertState.PENDING, NOON + minutes(4)),
        (AlertState.FIRING, NOON + minutes(7)),
        (AlertState.RESOLVED, NOON + minutes(14)),
    ]
    assert back.standing == ()


async def test_backfill_is_limited() -> None:
    metrics = dark_in((1, 500))
    queried: list[datetime] = []

    def heat(_expr: str, at: datetime) -> Mapping[str, float]:
        queried.append(at)
        return {}

    metrics.heat = heat
    yard = EvaluationStage(rules=(RULE,), metrics=metrics)
    await yard.run(500)
    queried.clear()

    await yard.round(500)

    assert len(queried) == MAX_MISSED + 1
    assert min(queried) == NOON + minutes(500 - MAX_MISSED)


class Relapsing(Canned):
    """Answers one cycle after its outage, then fails every query about the past."""

    relapsed: bool = False
    failed: int = 0

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        if at < self.asked and self.relapsed:
            self.failed += 1
            return Blind(source="prometheus", at=at, reason="timeout")
        return await super().query(query, at=at)


async def test_a_source_that_fails_again_during_backfill_blocks_nothing_and_loses_nothing() -> None:
    rules = tuple(a_rule(f"R{number}", for_=minutes(3)) for number in range(20))
    metrics = Relapsing(hot((4, 12)), dark=lambda at: minutes(2) <= at - NOON < minutes(20))
    yard = EvaluationStage(rules=rules, metrics=metrics)
    await yard.run(20)

    metrics.relapsed = True
    relapse = await yard.round(20)
    metrics.relapsed = False
    back = await yard.round(21)

    assert metrics.failed == CONCURRENCY  # for one rule; the source's other rules were not tried
    assert relapse.blind == {rule.id: "timeout" for rule in rules}
    assert back.blind == {}
    assert {(change.alert.rule, change.alert.life.state, change.at) for change in back.changes} == {
        (rule.id, state, NOON + minutes(at))
        for rule in rules
        for state, at in ((AlertState.PENDING, 4), (AlertState.FIRING, 7), (AlertState.RESOLVED, 12))
    }


async def test_backfill_is_given_up_after_some_tries() -> None:
    metrics = Relapsing(hot((30, 60)), dark=lambda at: minutes(2) <= at - NOON < minutes(5))
    yard = EvaluationStage(rules=(a_rule(),), metrics=metrics)
    await yard.run(5)
    metrics.relapsed = True

    blind = [bool((await yard.round(minute)).blind) for minute in range(5, 10)]

    assert blind == [True] * TRIES + [False] * (5 - TRIES)


async def test_samples_with_the_same_labels_make_only_their_rule_blind() -> None:
    def heat(expr: str, _at: datetime) -> Mapping[str, float]:
        return {"gpu-a01": 91, "gpu-a02": 92} if expr == "two" else {"gpu-a01": 91}

    same = replace(a_rule("Same", expr="two", labels={"node": "same"}))
    yard = EvaluationStage(rules=(RULE, same), metrics=Canned(heat))

    done = await yard.round(0)

    assert done.evaluated == {RULE.id}
    assert "same labels" in done.blind[same.id]


async def test_a_restart_of_the_exporter_does_not_resolve_the_alert_of_an_absent_subject() -> None:
    metrics = Canned(hot((0, 6)))
    metrics.present = lambda at: () if NOON + minutes(6) <= at < NOON + minutes(30) else PRESENT
    yard = EvaluationStage(
        rules=(replace(RULE, query=PromQLQuery(expr="heat > 83", presence="heat")),), metrics=metrics
    )
    cycles = [await yard.round(minute) for minute in range(34)]
    states = [[alert.life.state for alert in cycle.standing] for cycle in cycles]

    assert states[29] == [AlertState.FIRING]
    assert states[33] == []


async def test_presence_is_queried_at_the_start_and_when_an_alert_is_missing() -> None:
    metrics = Canned(hot((3, 6)), present=lambda _at: PRESENT)
    yard = EvaluationStage(rules=(a_rule(presence="heat"),), metrics=metrics)
    queries = []
    for minute in range(10):
        await yard.round(minute)
        queries.append(metrics.presence_asked)

    assert queries == [1, 1, 1, 1, 1, 1, 2, 2, 2, 2]


async def test_swapping_rules_keeps_alerts_and_returns_those_of_removed_rules() -> None:
    other = a_rule("Other")
    yard = EvaluationStage(rules=(RULE, other), metrics=Canned(hot((0, 60))))
    await yard.run(5)

    gone = yard.scheduler.swap((RULE,))
    after = await yard.round(5)

    assert [alert.name for alert in gone] == ["Other"]
    assert [(alert.name, alert.life.since) for alert in after.standing] == [("GPUTemperatureHigh", NOON)]


async def test_restored_alerts_continue_and_those_without_a_rule_are_returned() -> None:
    yard = EvaluationStage(rules=(RULE,), metrics=Canned(hot()))

    orphans = yard.scheduler.restore(
        [an_alert("GPUTemperatureHigh"), an_alert("Forgotten"), an_alert(state=AlertState.RESOLVED)], {}, NOON
    )

    assert [alert.name for alert in orphans] == ["Forgotten"]
    assert len((await yard.scheduler.run_cycle(NOON)).standing) == 1


spans = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 15)), max_size=4).map(
    lambda found: tuple((begin, begin + length) for begin, length in found)
)
timings = st.tuples(st.integers(0, 4), st.integers(0, 4))


@share(0.8)
@given(hot_spans=spans, gone_spans=spans, dark_spans=spans, timing=timings)
async def test_after_any_outage_the_state_is_the_undisturbed_one(
    hot_spans: tuple[tuple[int, int], ...],
    gone_spans: tuple[tuple[int, int], ...],
    dark_spans: tuple[tuple[int, int], ...],
    timing: tuple[int, int],
) -> None:
    """The second cycle after the last outage has the state of a scheduler that was never blind.

    In the dark spans Prometheus is unreachable; in the gone ones it answers, but the exporter is absent.
    """
    rule = a_rule(for_=minutes(timing[0]), keep_firing_for=minutes(timing[1]), presence="heat")
    last = max((end for _begin, end in dark_spans), default=0) + 2
    gone, heat = hot(*gone_spans), hot(*hot_spans)

    def seen(expr: str, at: datetime) -> Mapping[str, float]:
        return {} if gone(expr, at) else heat(expr, at)

    def present(at: datetime) -> tuple[Labels, ...]:
        return () if gone("", at) else PRESENT

    disturbed = EvaluationStage(
        rules=(rule,), metrics=replace(dark_in(*dark_spans), heat=seen, present=present)
    )
    undisturbed = EvaluationStage(rules=(rule,), metrics=Canned(seen, present=present))
    end_of_one = end_of_other = None

    for minute in range(last):
        end_of_one = await disturbed.scheduler.run_cycle(_at(disturbed, minute))
        end_of_other = await undisturbed.scheduler.run_cycle(_at(undisturbed, minute))

    assert end_of_one is not None
    assert end_of_other is not None
    assert end_of_one.standing == end_of_other.standing
    assert end_of_one.blind == {}


def _at(yard: EvaluationStage, minute: int) -> datetime:
    yard.metrics.asked = NOON + minute * timedelta(minutes=1)
    return yard.metrics.asked
