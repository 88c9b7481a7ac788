"""Rows of another process: neither overwritten nor opened a second time, and read in their order."""

from dataclasses import replace
from pathlib import Path

from alerts.incidents.grouping import acknowledge
from alerts.incidents.incident import Incident
from bot.store.sql_store import SqlStore
from tests.support.alerting import NOON, a_rule, minutes
from tests.support.evaluation import Canned, EvaluationStage, hot


async def a_yard(folder: Path, *spans: tuple[int, int]) -> EvaluationStage:
    store = await SqlStore.open(f"sqlite+aiosqlite:///{folder / 'yard.db'}")
    return EvaluationStage(rules=[a_rule()], metrics=Canned(hot(*spans)), store=store)


async def test_an_acknowledgement_by_another_process_is_kept(tmp_path: Path) -> None:
    yard, other = await a_yard(tmp_path, (0, 3)), await a_yard(tmp_path)
    await yard.run(2)
    async with other.store.unit() as unit:
        (incident,) = await unit.rows(Incident).find()
        await unit.rows(Incident).put(acknowledge(incident, who="U_DANA", now=NOON))
    await yard.run(6, start=2)
    (incident,) = await yard.incidents()
    assert (incident.acknowledged_by, incident.is_open) == ("U_DANA", False)
    await yard.store.close()
    await other.store.close()


async def test_an_incident_that_another_process_opened_is_not_opened_again(tmp_path: Path) -> None:
    yard, other = await a_yard(tmp_path, (1, 9)), await a_yard(tmp_path, (1, 9))
    for minute in range(9):
        await yard.round(minute)
        await other.round(minute)
    assert [incident.id for incident in await yard.incidents()] == ["i1"]
    assert len(await yard.cards()) == 1
    await yard.store.close()
    await other.store.close()


async def test_a_book_that_is_read_again_takes_the_newest_incident_of_a_group_as_the_old_one_did(
    tmp_path: Path,
) -> None:
    yard = await a_yard(tmp_path, (0, 2), (40, 60))
    await yard.run(45)
    first, second = await yard.incidents()
    assert (first.is_open, second.is_open) == (False, True)
    async with yard.store.unit() as unit:  # it resolved only a moment ago
        await unit.rows(Incident).put(replace(first, resolved_at=NOON + minutes(44)))
    await yard.restart(45)
    await yard.run(47, start=45)
    assert [incident.is_open for incident in await yard.incidents()] == [False, True]
    await yard.store.close()


async def test_alerts_that_never_fired_are_forgotten(tmp_path: Path) -> None:
    yard = await a_yard(tmp_path, *((minute, minute + 1) for minute in range(0, 20, 2)))
    yard.rules = [a_rule(for_=minutes(5))]
    yard.process()
    await yard.run(21)
    assert yard.recorder.remembered == 0
    await yard.store.close()
