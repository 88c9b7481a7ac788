"""Rounds of evaluation: what is due, what blindness costs, and what is made up for after it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from alerts.lifecycle import AlertState
from bot.evaluation.scheduler import MAX_MISSED, TRIES
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, QueryResult
from collectors.query_router import AT_ONCE
from tests.support.alerting import NOON, a_rule, an_alert, minutes
from tests.support.evaluation import EVERY, Canned, Yard, hot
from tests.support.examples import share

RULE = a_rule(for_=minutes(3), keep_firing_for=minutes(2))
THERE = (Labels({"node": "gpu-a01"}),)


def dark_in(*spans: tuple[int, int]) -> Canned:
    def dark(at: datetime) -> bool:
        return any(begin <= (at - NOON) / EVERY < end for begin, end in spans)

    return Canned(hot(), dark=dark)


async def test_a_rule_is_asked_on_its_own_grid() -> None:
    slow = replace(a_rule("Slow"), interval=minutes(5))
    yard = Yard(rules=(RULE, slow), metrics=Canned(hot()))

    judged = [(await yard.round(minute)).evaluated for minute in range(7)]

    assert [slow.id in one for one in judged] == [True, False, False, False, False, True, False]
    assert all(RULE.id in one for one in judged)
    assert yard.judge.next_due(NOON + minutes(6)) == NOON + minutes(7)


async def test_a_late_round_does_not_shift_the_grid_nor_run_twice() -> None:
    yard = Yard(rules=(RULE,), metrics=Canned(hot()))
    await yard.judge.run_cycle(NOON)

    late = await yard.judge.run_cycle(NOON + minutes(3.5))

    assert late.evaluated == {RULE.id}
    assert yard.judge.next_due(NOON) == NOON + minutes(4)


async def test_blindness_in_the_middle_resolves_nothing_and_is_told() -> None:
    metrics = dark_in((5, 60))
    metrics.heat = hot((0, 6))
    yard = Yard(rules=(RULE,), metrics=metrics)

    rounds = [await yard.round(minute) for minute in range(60)]

    assert [len(one.changes) for one in rounds[5:]] == [0] * 55
    assert all(one.blind == {RULE.id: "refused"} and not one.evaluated for one in rounds[5:])
    assert [alert.life.state for alert in rounds[-1].standing] == [AlertState.FIRING]


async def test_what_began_and_ended_unseen_is_found_afterwards() -> None:
    metrics = dark_in((2, 20))
    metrics.heat = hot((4, 12))
    yard = Yard(rules=(RULE,), metrics=metrics)
    await yard.run(20)

    back = await yard.round(20)

    assert [(change.alert.life.state, change.at) for change in back.changes] == [
        (AlertState.PENDING, NOON + minutes(4)),
        (AlertState.FIRING, NOON + minutes(7)),
        (AlertState.RESOLVED, NOON + minutes(14)),
    ]
    assert back.standing == ()


async def test_what_is_made_up_for_has_an_end() -> None:
    metrics = dark_in((1, 500))
    asked: list[datetime] = []

    def heat(_expr: str, at: datetime) -> Mapping[str, float]:
        asked.append(at)
        return {}

    metrics.heat = heat
    yard = Yard(rules=(RULE,), metrics=metrics)
    await yard.run(500)
    asked.clear()

    await yard.round(500)

    assert len(asked) == MAX_MISSED + 1
    assert min(asked) == NOON + minutes(500 - MAX_MISSED)


class Relapsing(Canned):
    """Answers one round after its outage, and is then asked about the past in vain."""

    relapsed: bool = False
    in_vain: int = 0

    async def query(self, query: PromQLQuery, *, at: datetime) -> QueryResult:
        if at < self.asked and self.relapsed:
            self.in_vain += 1
            return Blind(source="prometheus", at=at, reason="timeout")
        return await super().query(query, at=at)


async def test_a_source_that_fails_again_while_the_past_is_asked_stops_nothing_and_loses_nothing() -> None:
    rules = tuple(a_rule(f"R{number}", for_=minutes(3)) for number in range(20))
    metrics = Relapsing(hot((4, 12)), dark=lambda at: minutes(2) <= at - NOON < minutes(20))
    yard = Yard(rules=rules, metrics=metrics)
    await yard.run(20)

    metrics.relapsed = True
    relapse = await yard.round(20)
    metrics.relapsed = False
    back = await yard.round(21)

    assert metrics.in_vain == AT_ONCE  # of one rule; the others of that source were not tried
    assert relapse.blind == {rule.id: "timeout" for rule in rules}
    assert back.blind == {}
    assert {(change.alert.rule, change.alert.life.state, change.at) for change in back.changes} == {
        (rule.id, state, NOON + minutes(at))
        for rule in rules
        for state, at in ((AlertState.PENDING, 4), (AlertState.FIRING, 7), (AlertState.RESOLVED, 12))
    }


async def test_a_past_that_is_never_answered_is_given_up_in_the_end() -> None:
    metrics = Relapsing(hot((30, 60)), dark=lambda at: minutes(2) <= at - NOON < minutes(5))
    yard = Yard(rules=(a_rule(),), metrics=metrics)
    await yard.run(5)
    metrics.relapsed = True

    blind = [bool((await yard.round(minute)).blind) for minute in range(5, 10)]

    assert blind == [True] * TRIES + [False] * (5 - TRIES)


async def test_an_answer_that_cannot_be_told_apart_is_blind_for_its_rule_alone() -> None:
    def heat(expr: str, _at: datetime) -> Mapping[str, float]:
        return {"gpu-a01": 91, "gpu-a02": 92} if expr == "two" else {"gpu-a01": 91}

    same = replace(a_rule("Same", expr="two", labels={"node": "same"}))
    yard = Yard(rules=(RULE, same), metrics=Canned(heat))

    done = await yard.round(0)

    assert done.evaluated == {RULE.id}
    assert "same labels" in done.blind[same.id]


async def test_a_subject_that_is_not_watched_is_not_made_well_by_a_restart_of_its_exporter() -> None:
    metrics = Canned(hot((0, 6)))
    metrics.present = lambda at: () if NOON + minutes(6) <= at < NOON + minutes(30) else THERE
    yard = Yard(rules=(replace(RULE, query=PromQLQuery(expr="heat > 83", presence="heat")),), metrics=metrics)
    rounds = [await yard.round(minute) for minute in range(34)]
    phases = [[alert.life.state for alert in one.standing] for one in rounds]

    assert phases[29] == [AlertState.FIRING]
    assert phases[33] == []


async def test_who_is_present_is_asked_at_the_start_and_while_something_stands() -> None:
    metrics = Canned(hot((3, 6)), present=lambda _at: THERE)
    yard = Yard(rules=(a_rule(presence="heat"),), metrics=metrics)
    asked = []
    for minute in range(10):
        await yard.round(minute)
        asked.append(metrics.presence_asked)

    assert asked == [1, 1, 1, 1, 2, 3, 4, 4, 4, 4]


async def test_other_rules_take_over_and_give_back_what_stood() -> None:
    other = a_rule("Other")
    yard = Yard(rules=(RULE, other), metrics=Canned(hot((0, 60))))
    await yard.run(5)

    gone = yard.judge.swap((RULE,))
    after = await yard.round(5)

    assert [alert.name for alert in gone] == ["Other"]
    assert [(alert.name, alert.life.since) for alert in after.standing] == [("GPUTemperatureHigh", NOON)]


async def test_alerts_of_another_process_are_taken_up_and_strangers_given_back() -> None:
    yard = Yard(rules=(RULE,), metrics=Canned(hot()))

    orphans = yard.judge.restore(
        [an_alert("GPUTemperatureHigh"), an_alert("Forgotten"), an_alert(state=AlertState.RESOLVED)], {}, NOON
    )

    assert [alert.name for alert in orphans] == ["Forgotten"]
    assert len((await yard.judge.run_cycle(NOON)).standing) == 1


spans = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 15)), max_size=4).map(
    lambda found: tuple((begin, begin + length) for begin, length in found)
)
patiences = st.tuples(st.integers(0, 4), st.integers(0, 4))


@share(0.8)
@given(hot_spans=spans, gone_spans=spans, dark_spans=spans, patience=patiences)
async def test_after_any_outage_the_state_is_the_undisturbed_one(
    hot_spans: tuple[tuple[int, int], ...],
    gone_spans: tuple[tuple[int, int], ...],
    dark_spans: tuple[tuple[int, int], ...],
    patience: tuple[int, int],
) -> None:
    """The second round after the last outage knows what a judge that never was blind knows.

    Prometheus is away in the dark spans; in the gone ones it answers, and the exporter is not there.
    """
    rule = a_rule(for_=minutes(patience[0]), keep_firing_for=minutes(patience[1]), presence="heat")
    last = max((end for _begin, end in dark_spans), default=0) + 2
    gone, heat = hot(*gone_spans), hot(*hot_spans)

    def seen(expr: str, at: datetime) -> Mapping[str, float]:
        return {} if gone(expr, at) else heat(expr, at)

    def present(at: datetime) -> tuple[Labels, ...]:
        return () if gone("", at) else THERE

    disturbed = Yard(rules=(rule,), metrics=replace(dark_in(*dark_spans), heat=seen, present=present))
    undisturbed = Yard(rules=(rule,), metrics=Canned(seen, present=present))
    end_of_one = end_of_other = None

    for minute in range(last):
        end_of_one = await disturbed.judge.run_cycle(_at(disturbed, minute))
        end_of_other = await undisturbed.judge.run_cycle(_at(undisturbed, minute))

    assert end_of_one is not None
    assert end_of_other is not None
    assert end_of_one.standing == end_of_other.standing
    assert end_of_one.blind == {}


def _at(yard: Yard, minute: int) -> datetime:
    yard.metrics.asked = NOON + minute * timedelta(minutes=1)
    return yard.metrics.asked
