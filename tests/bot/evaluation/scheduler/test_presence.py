"""Presence is queried only where an alert is missing; the alerts are those of a scheduler that always queries it."""

import random
from collections.abc import Mapping
from datetime import datetime

import pytest

from bot.evaluation.scheduler import EvaluationCycle
from collectors.facts.labels import Labels
from tests.support.alerting import NOON, a_rule, minutes
from tests.support.evaluation import EVERY, Canned, EvaluationStage, hot

NODES = tuple(f"gpu-a0{number}" for number in range(1, 4))
MINUTES = 40


class Chances:
    """A world by chance: nodes get hot, lose their series and come back, and Prometheus is down at times."""

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self._hot = {node: self._spans(chance, 0.3) for node in NODES}
        self._gone = {node: self._spans(chance, 0.15) for node in NODES}
        self._dark = self._spans(chance, 0.1)

    @staticmethod
    def _spans(chance: random.Random, share: float) -> frozenset[int]:
        found: set[int] = set()
        while len(found) < share * MINUTES:
            begin = chance.randrange(2, MINUTES)
            found.update(range(begin, begin + chance.randrange(1, 7)))
        return frozenset(found)

    def heat(self, _expr: str, at: datetime) -> Mapping[str, float]:
        minute = round((at - NOON) / EVERY)
        return {node: 91.0 for node in NODES if minute in self._hot[node] and minute not in self._gone[node]}

    def present(self, at: datetime) -> tuple[Labels, ...]:
        minute = round((at - NOON) / EVERY)
        return tuple(Labels({"node": node}) for node in NODES if minute not in self._gone[node])

    def dark(self, at: datetime) -> bool:
        return round((at - NOON) / EVERY) in self._dark


def found_in(cycle: EvaluationCycle) -> tuple[object, ...]:
    changes = [(change.alert.labels, change.before, change.alert.life, change.at) for change in cycle.changes]
    standing = [(alert.labels, alert.life, alert.unseen_since) for alert in cycle.standing]
    return changes, standing, cycle.evaluated, dict(cycle.blind)


@pytest.mark.parametrize("kept", [0, 3])
async def test_the_alerts_are_those_of_a_scheduler_that_always_queries_it(kept: float) -> None:
    rule = a_rule(presence="heat", keep_firing_for=minutes(kept), for_=minutes(1))
    saved = 0
    for seed in range(25):
        world = Chances(seed)
        metrics, wholly = (Canned(world.heat, dark=world.dark, present=world.present) for _ in range(2))
        yard, always = (
            EvaluationStage(rules=(rule,), metrics=metrics),
            EvaluationStage(rules=(rule,), metrics=wholly),
        )
        for minute in range(MINUTES):
            if minute == 25:
                await yard.restart(minute)
                await always.restart(minute)
            for state in always.scheduler._states.values():
                state.is_proven = False
            assert found_in(await yard.round(minute)) == found_in(await always.round(minute)), (seed, minute)
        saved += wholly.presence_asked - metrics.presence_asked
    assert saved > 25 * MINUTES / 4


async def test_while_an_alert_is_not_seen_the_whole_query_is_sent_once_a_cycle() -> None:
    queries: list[str | None] = []

    class Recording(Canned):
        async def query(self, query, *, at):  # type: ignore[no-untyped-def]
            queries.append(query.presence)
            return await super().query(query, at=at)

    metrics = Recording(hot((1, 5)), present=lambda _at: ())
    yard = EvaluationStage(rules=(a_rule(presence="heat"),), metrics=metrics)
    sent = []
    for minute in range(9):
        queries.clear()
        await yard.round(minute)
        sent.append(list(queries))
    lean, whole = None, "heat"
    assert sent == [[whole], [lean], [lean], [lean], [lean], [lean, whole], [whole], [whole], [whole]]
