"""Calls of a parent for somebody: it is repeated in the place of its members, and one of them can be reopened."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.alert import Alert
from alerts.incidents.grouping import acknowledge
from alerts.incidents.incident import Incident
from alerts.inhibition import InhibitRule
from alerts.lifecycle import AlertState
from alerts.matching import parse_matchers
from alerts.parents.parent_incident import ParentIncident
from alerts.parents.working_on import acknowledge_all
from alerts.routing import CardRouting
from alerts.silences import Silence
from bot.jobs.incident_reminder import IncidentReminder
from bot.jobs.parent_reminder import ParentReminder
from tests.support.alerting import CLUSTER
from tests.support.storm_stage import StormStage, a_site, racks

pytestmark = pytest.mark.looptime

NODES = racks(1, 20)
EVERY = timedelta(minutes=30)
SOON = 20.0  # seconds


async def the_parent(stage: StormStage) -> ParentIncident:
    async with stage.store.read() as snapshot:
        (parent,) = await snapshot.rows(ParentIncident).find()
    return parent


async def remind(stage: StormStage, routing: CardRouting | None = None) -> None:
    """Do what is due now, as the agenda does."""
    routing = routing or CardRouting()
    reminders = (
        IncidentReminder(stage.store, every=EVERY, routing=routing),
        ParentReminder(stage.store, every=EVERY, routing=routing),
    )
    for reminder in reminders:
        for work in reminder.works:
            now = stage.clock.now()
            async with stage.store.read() as snapshot:
                due = await snapshot.rows(work.row).find(unanswered_since=work.until(now, now=now))
            for row in due:
                await work.do(row, now)


async def assert_not_repeated(stage: StormStage) -> None:
    await asyncio.sleep(2 * EVERY.total_seconds())
    await remind(stage)
    await asyncio.sleep(SOON)
    assert len(stage.slack.cards) == 1


async def test_one_that_nobody_acknowledges_is_repeated_once_a_period_and_its_members_are_not() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        await stage.fire(NODES, ["NodeNotReady"])
        for _ in range(4):
            await asyncio.sleep(EVERY.total_seconds() / 2 + 1)
            await remind(stage)
            await remind(stage)
        await asyncio.sleep(SOON)
        _, *repeated = stage.slack.cards
    assert [card.text.split("\n")[0] for card in repeated] == [
        f"Nobody has acknowledged this for {lasting}: 20 nodes of rack r1 have alerts: NodeNotReady on 20"
        for lasting in ("30 min 2 s", "1 h")
    ]
    assert all("Acknowledge all" in str(card.blocks) + str(card.attachments) for card in repeated)


async def test_one_that_somebody_acknowledged_is_not_repeated() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        await stage.fire(NODES, ["NodeNotReady"])
        parent = await the_parent(stage)
        acknowledged, _ = acknowledge_all(parent, [], who="U1", who_name="ana", now=stage.clock.now())
        async with stage.store.unit() as unit:
            await unit.rows(ParentIncident).put(acknowledged)
        await assert_not_repeated(stage)


async def test_one_of_which_people_acknowledged_each_is_not_repeated() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        await stage.fire(NODES, ["NodeNotReady"])
        async with stage.store.unit() as unit:
            for one in await unit.rows(Incident).find():
                await unit.rows(Incident).put(acknowledge(one, who="U1", now=stage.clock.now()))
        await assert_not_repeated(stage)


async def test_one_that_is_silenced_as_a_whole_is_repeated_after_the_silence() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        await stage.fire(NODES, ["NodeNotReady"])
        parent = await the_parent(stage)
        now = stage.clock.now()
        silence = Silence(
            id="s1",
            cluster=CLUSTER,
            matchers=(),
            starts_at=now,
            ends_at=now + 2 * EVERY,
            by="U1",
            comment="",
            incident=parent.id,
        )
        async with stage.store.unit() as unit:
            await unit.rows(Silence).put(silence)
        shown = []
        for _ in range(2):
            await asyncio.sleep(EVERY.total_seconds() + 5)
            await remind(stage)
            await asyncio.sleep(SOON)
            shown.append(len(stage.slack.cards))
    assert shown == [1, 2]


async def test_one_whose_alerts_another_inhibits_is_not_repeated() -> None:
    inhibits = InhibitRule(
        sources=parse_matchers('alertname="GPUGone"'),
        targets=parse_matchers('alertname="NodeNotReady"'),
        equal=(),
    )
    stage = StormStage(topology=a_site(NODES))
    shown = []
    async with stage.delivering():
        await stage.fire(NODES, ["NodeNotReady"])
        (source,) = stage.alerts(["n1-01"], ["GPUGone"], severity="info")
        async with stage.store.unit() as unit:
            await unit.rows(Alert).put(source)
        for rules in ((inhibits,), ()):
            await asyncio.sleep(EVERY.total_seconds() + 5)
            await remind(stage, CardRouting(default=f"slack:{stage.slack.id}", inhibit_rules=rules))
            await asyncio.sleep(SOON)
            shown.append(len(stage.slack.cards))
    assert shown == [1, 2]


async def test_a_member_that_a_person_reopens_opens_its_parent_again() -> None:
    stage = StormStage(topology=a_site(NODES))
    alerts = await stage.fire(NODES, ["NodeNotReady"])
    await asyncio.sleep(60)
    await stage.end(alerts)
    assert not (await the_parent(stage)).is_open
    (first, *_) = await stage.incidents()
    async with stage.store.unit() as unit:
        await unit.rows(Incident).put(_reopened(first))
    await stage.cycle()
    assert (await the_parent(stage)).is_open


def _reopened(incident: Incident) -> Incident:
    (member,) = incident.members
    return replace(
        incident, resolved_at=None, members=(replace(member, state=AlertState.FIRING, resolved_at=None),)
    )
