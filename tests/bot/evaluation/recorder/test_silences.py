"""Silences in evaluation cycles: what is recorded, what is not delivered, and what is once they end."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from alerts.alert_batch import AlertBatch
from alerts.incidents.incident import Incident
from alerts.matching import parse_matchers
from alerts.routing import Route
from alerts.silences import Silence
from alerts.store import Unit
from bot.evaluation.posting import IncidentPosting
from tests.bot.evaluation.recorder.conftest import a_yard, by_rule
from tests.support.alerting import CLUSTER, NOON, a_rule, minutes
from tests.support.evaluation import EVERY, Canned, EvaluationStage
from tests.support.rows import a_silence

SILENCE = a_silence(NOON, 'node="gpu-a01"', cluster=CLUSTER)


async def test_a_silenced_incident_is_recorded_and_not_delivered() -> None:
    yard = a_yard((0, 10))
    await yard.silence(SILENCE)
    await yard.run(20)

    (incident,) = await yard.incidents()
    assert not incident.is_open
    assert await yard.cards() == []
    assert await yard.said() == []


async def test_a_silence_applies_however_many_expired_before_it() -> None:
    yard = a_yard((0, 10))
    old = replace(SILENCE, starts_at=NOON - minutes(90), ends_at=NOON - minutes(60))
    async with yard.store.unit() as unit:
        for number in range(1_000):
            await unit.rows(Silence).put(replace(old, id=f"old{number}"))
    await yard.silence(SILENCE)
    await yard.run(5)

    assert len(await yard.incidents()) == 1
    assert await yard.cards() == []


async def test_an_incident_that_outlives_its_silence_is_delivered_then() -> None:
    yard = a_yard((0, 60))
    await yard.silence(SILENCE)
    await yard.run(29)
    during = await yard.cards()
    await yard.run(32, start=29)

    assert during == []
    assert [card.id for card in await yard.cards()] == ["incident/i1/C1"]


def flapping(until: int, late: int = 1_000) -> Canned:
    """Warm all the time, Bad every other minute before `until`, Late from minute `late` on."""

    def heat(expr: str, at: datetime) -> Mapping[str, float]:
        minute = (at - NOON) / EVERY
        is_hot = {"Warm": True, "Bad": minute % 2 == 1 and minute < until, "Late": minute >= late}[expr]
        return {"gpu-a01": 91} if is_hot else {}

    return Canned(heat)


FLAPPING = (
    a_rule("Warm", expr="Warm"),
    a_rule("Bad", expr="Bad", severity="critical"),
    a_rule("Late", expr="Late"),
)


async def test_events_during_a_silence_are_not_delivered_when_it_ends() -> None:
    yard = EvaluationStage(rules=FLAPPING, metrics=flapping(25))
    await yard.silence(SILENCE)
    await yard.run(35)

    assert len(await yard.cards()) == 1
    assert await yard.said() == []


async def test_a_channel_that_is_added_late_gets_no_earlier_events() -> None:
    routes = (Route(matchers=parse_matchers("alertname=Late"), channels=("C9",)),)
    yard = EvaluationStage(rules=FLAPPING, metrics=flapping(20, late=30), routes=routes)
    await yard.run(40)

    assert sorted(card.channel for card in await yard.cards()) == ["C1", "C9"]
    assert {card for card, _text in await yard.said()} == {"incident/i1/C1"}


async def test_an_incident_delivered_before_its_silence_still_gets_its_resolution() -> None:
    yard = a_yard((0, 12))
    await yard.run(5)
    await yard.silence(SILENCE)
    await yard.run(20, start=5)

    assert [text.split()[0] for _card, text in await yard.said()] == ["Resolved"]


async def test_a_silence_of_one_alert_does_not_hide_another() -> None:
    other = a_rule("Other", expr="Other")
    warm = a_rule(expr="GPUTemperatureHigh")
    yard = EvaluationStage(rules=(warm, other), metrics=by_rule(GPUTemperatureHigh=(0, 30), Other=(0, 30)))
    await yard.silence(replace(SILENCE, matchers=parse_matchers("alertname=GPUTemperatureHigh")))
    await yard.run(3)

    assert len(await yard.cards()) == 1


async def test_an_unrelated_silence_does_not_hide_an_alert_that_ended_while_blind() -> None:
    yard = a_yard((4, 12))
    yard.metrics.dark = lambda at: NOON + minutes(3) <= at < NOON + minutes(20)
    await yard.silence(replace(SILENCE, matchers=parse_matchers("node=gpu-a02")))
    await yard.run(21)

    assert len(await yard.cards()) == 1


async def test_what_got_worse_during_a_silence_is_posted_when_it_ends() -> None:
    rules = (a_rule("Warm", expr="Warm"), a_rule("Bad", expr="Bad", severity="critical"))
    yard = EvaluationStage(rules=rules, metrics=by_rule(Warm=(0, 90), Bad=(10, 90)))
    await yard.run(5)
    await yard.silence(SILENCE)
    await yard.run(30, start=5)
    during = await yard.said()
    await yard.run(32, start=30)

    assert during == []
    assert ["critical" in text.lower() for _card, text in await yard.said()] == [True]


async def test_the_alerts_of_a_silenced_incident_are_not_read_in_each_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    yard = EvaluationStage(rules=(a_rule("Warm", expr="Warm"),), metrics=by_rule(Warm=(0, 90)))
    await yard.silence(SILENCE)
    await yard.run(2)
    asked: list[Incident] = []
    looked = IncidentPosting._silenced

    async def silenced(
        self: IncidentPosting, unit: Unit, incidents: Sequence[Incident], now: datetime
    ) -> set[str]:
        asked.extend(incidents)
        return await looked(self, unit, incidents, now)

    monkeypatch.setattr(IncidentPosting, "_silenced", silenced)
    for number in range(20):
        await yard.recorder.record(
            AlertBatch(at=NOON + minutes(2) + timedelta(seconds=number / 2)), rules={}, topology=yard.topology
        )
    assert len(asked) == 2
