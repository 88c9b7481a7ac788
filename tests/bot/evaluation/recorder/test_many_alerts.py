"""An incident of many alerts: its document has the first, rows have the others, and nothing else differs."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from alerts.cards.explanation import many_alerts
from alerts.cards.headline import headline
from alerts.cards.text import plain
from alerts.incidents.grouping import shared_subject
from alerts.incidents.incident import Incident
from alerts.incidents.member_rows import MemberRow, whole_ones
from alerts.incidents.proofs import NO_FACTS
from alerts.incidents.shortening import KEPT
from bot.evaluation import recorder
from bot.store.sql_store import SqlStore
from commands.incident.card_context import incident_context
from tests.support.alerting import CLUSTER, NOON, a_rule, minutes
from tests.support.evaluation import EVERY, Canned, EvaluationStage
from tests.support.memory_store import MemoryStore
from tests.support.new_store import new_store
from tests.support.rows import a_silence

MANY = KEPT + 150
PLAIN = a_rule("DNSDown", labels={"component": "dns"})
RULE = replace(
    PLAIN,
    template=replace(
        PLAIN.template,
        annotations={**PLAIN.template.annotations, "headline": "{count} replicas of {component} are down"},
    ),
)


def replicas(
    last: int = MANY, *, until: float = 99, few_until: float = 99, hotter_each_minute: float = 0
) -> Canned:
    """Return a world in which so many replicas are down until then, the first three until `few_until`."""

    def heat(_expr: str, at: datetime) -> Mapping[str, float]:
        minute = (at - NOON) / EVERY
        first = 0 if minute < few_until else 3
        value = 91 + minute * hotter_each_minute
        return {f"n{number}": value for number in (range(first, last) if minute < until else ())}

    return Canned(heat)


def a_yard(metrics: Canned, store: Any = None) -> EvaluationStage:
    return EvaluationStage(rules=(RULE,), metrics=metrics, store=store or MemoryStore())


async def rows(yard: EvaluationStage) -> list[MemberRow]:
    async with yard.store.read() as snapshot:
        return list(await snapshot.rows(MemberRow).find())


async def whole(yard: EvaluationStage) -> Incident:
    async with yard.store.read() as snapshot:
        (incident,) = await whole_ones(await snapshot.rows(Incident).find(), snapshot)
        return incident


async def test_the_document_has_the_first_alerts_and_rows_have_the_others() -> None:
    yard = a_yard(replicas())
    await yard.round(0)

    (incident,) = await yard.incidents()
    assert (len(incident.members), len(await rows(yard)), incident.alerts) == (KEPT, MANY - KEPT, MANY)
    assert len({member.alert for member in (await whole(yard)).members}) == MANY
    assert headline(incident) == headline(await whole(yard)) == f"{MANY} replicas of dns are down"
    assert shared_subject(incident) == shared_subject(await whole(yard))
    assert f"It has {MANY} alerts" in plain(many_alerts(incident))


async def test_only_the_alerts_that_changed_are_written() -> None:
    yard = a_yard(replicas(few_until=1))
    await yard.round(0)
    before = {member.alert: member for member in (await whole(yard)).members}
    written: list[str] = []
    yard.store.listen(lambda changed: written.extend(changed.get("members", {})))
    await yard.recorder.record(
        replace(await yard.scheduler.run_cycle(NOON + minutes(0.9)), standing=()).batch(NO_FACTS),
        rules=yard.scheduler.rules,
        topology=yard.topology,
    )
    assert written == []
    yard.metrics.asked = NOON + minutes(1)
    cycle = await yard.scheduler.run_cycle(NOON + minutes(1))
    await yard.recorder.record(
        replace(cycle, standing=()).batch(NO_FACTS), rules=yard.scheduler.rules, topology=yard.topology
    )

    after = {member.alert: member for member in (await whole(yard)).members}
    assert [member.is_firing for member in after.values()].count(True) == MANY - 3
    assert sum(before[alert] != member for alert, member in after.items()) == 3
    assert len(written) <= 2 * 3  # a row each for those that ended, and for those that took their place


@pytest.mark.parametrize("restarts", [False, True])
async def test_it_ends_when_the_last_of_its_alerts_does(restarts: bool) -> None:
    yard = a_yard(replicas(few_until=2, until=4))
    for minute in range(6):
        if restarts:
            await yard.restart(minute)
        await yard.round(minute)

    incident = await whole(yard)
    assert incident.resolved_at == NOON + minutes(4)
    assert (len(incident.members), len(await rows(yard))) == (MANY, MANY - KEPT)
    assert not any(member.is_firing for member in incident.members)
    assert len(await yard.alerts()) == MANY


async def test_a_silence_covers_it_only_with_all_of_its_alerts() -> None:
    yard = a_yard(replicas())
    await yard.round(0)
    (incident,) = await yard.incidents()
    shown = "|".join(sorted({member.subject.node for member in incident.members}))
    for matchers, is_covered in ((f'node=~"{shown}"', False), ('component="dns"', True)):
        await yard.silence(a_silence(NOON, matchers, cluster=CLUSTER))
        async with yard.store.read() as snapshot:
            context = await incident_context(incident, snapshot, rules={}, now=NOON)
        assert (context.silenced_until is not None) is is_covered


async def test_the_rows_move_with_a_clock_step() -> None:
    yard = a_yard(replicas())
    await yard.round(0)
    await yard.recorder.restate(minutes(60), NOON + minutes(60))

    assert {member.since for member in (await whole(yard)).members} == {NOON + minutes(60)}


async def test_rows_are_deleted_with_their_incident(tmp_path: Path) -> None:
    store = await SqlStore.open(new_store(tmp_path))
    try:
        yard = a_yard(replicas(until=2), store)
        await yard.run(4)
        assert len(await rows(yard)) == MANY - KEPT
        await store.prune(NOON + minutes(60))
        assert await rows(yard) == []
    finally:
        await store.close()


async def test_values_of_many_alerts_are_written_again_some_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They began together, so all of their rows are old at the same moment."""
    monkeypatch.setattr(recorder, "REFRESHED_AT_ONCE", 60)
    yard = a_yard(replicas(hotter_each_minute=0.1))
    written: list[set[str]] = []
    await yard.round(0)
    yard.store.listen(lambda changed: written.append(set(changed.get("alerts", ()))))
    for minute in range(1, 6):
        await yard.round(minute)
    rounds = [one for one in written if one]
    assert [len(one) for one in rounds] == [60] * 5
    first = -(-MANY // 60)  # rounds until all of them are
    assert len(set.union(*rounds)) == min(MANY, 60 * 5)
    assert first > 1


async def test_an_alert_that_is_as_it_was_is_not_written_again() -> None:
    yard = a_yard(replicas())
    written: list[str] = []
    await yard.round(0)
    yard.store.listen(lambda changed: written.extend(changed.get("alerts", ())))
    for minute in range(1, 6):
        await yard.round(minute)
    assert written == []
