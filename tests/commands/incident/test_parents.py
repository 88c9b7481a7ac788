"""A parent incident in the commands: what acts on it acts on its members, and lists show it in their place."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from alerts.alert import Alert
from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.evidence import Proven
from alerts.incidents.grouping import acknowledge
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.rules import Proof
from alerts.silences import Silence
from commands.models import AuditEntry
from tests.support.incident_yard import yard_with
from tests.support.storm_stage import StormStage, a_site, racks
from tests.support.yard import Yard

pytestmark = pytest.mark.looptime

NODES = racks(1, 30)
ALONE = "n2-01"


@asynccontextmanager
async def a_storm_of(folder: Path, *, is_over: bool = False) -> AsyncIterator[tuple[Yard, str]]:
    """Yield a yard in which a rack of 30 nodes and one node elsewhere have broken, and the id of the parent."""
    stage = StormStage(topology=a_site({**NODES, ALONE: "r2"}))
    alerts = await stage.fire(NODES, ["NodeNotReady"])
    await stage.fire([ALONE], ["GPUGone"])
    if is_over:
        await stage.end(alerts)
    async with yard_with(folder) as yard:
        async with stage.store.read() as stormy, yard.store.unit() as unit:
            for type_ in (Alert, Incident, ParentIncident):
                for row in await stormy.rows(type_).find():
                    await unit.rows(type_).put(row)
            (parent,) = await stormy.rows(ParentIncident).find()
        yield yard, parent.id


async def members(yard: Yard, id: str) -> list[Incident]:
    async with yard.store.read() as snapshot:
        return list(await snapshot.rows(Incident).find(parent=id))


async def test_lists_have_the_parent_in_the_place_of_its_members(tmp_path: Path) -> None:
    async with a_storm_of(tmp_path) as (yard, id):
        open_ones, latest = await yard.say("incident list"), await yard.say("incident list --all")
        home, alerts = await yard.say("home"), await yard.say("alert list")
        first, last = (
            await yard.say(f"incident show {id} --page 1"),
            await yard.say(f"incident show {id} --page 2"),
        )
        beyond = await yard.say(f"incident show {id} --page 3")
    assert "2 open incidents" in open_ones
    for said in (open_ones, latest, home):
        assert "30 nodes of rack r1 have alerts: NodeNotReady on 30" in said
        assert "n1-01" not in said
    assert f"30× NodeNotReady on rack r1 ({id})" in alerts
    assert {node for node in NODES if node in first + last} == set(NODES)
    assert "page 1 of 2" in first
    assert "has 2 pages of incidents" in beyond


async def test_it_is_shown_with_its_history_and_each_of_its_incidents_can_be_opened(tmp_path: Path) -> None:
    async with a_storm_of(tmp_path) as (yard, id):
        parent, why = await yard.say(f"incident show {id}"), await yard.say(f"alert why {id}")
        (first, *_) = await members(yard, id)
        member = await yard.say(f"incident show {first.id}")
    assert "30 nodes of rack r1 have alerts" in parent
    assert "These nodes broke together." in parent
    assert f"incident show {first.id}" in parent
    assert f"Part of incident {id} (many nodes of rack r1)" in member
    assert "NodeNotReady of n1-01" in member
    assert "19 more" in why


async def test_who_acknowledges_it_acknowledges_what_nobody_has(tmp_path: Path) -> None:
    async with a_storm_of(tmp_path) as (yard, id):
        (first, *_) = await members(yard, id)
        async with yard.store.unit() as unit:
            await unit.rows(Incident).put(acknowledge(first, who="slack:U_BO", now=first.opened_at))
        said = await yard.say(f"alert ack {id}")
        assert f"You acknowledged incident {id} and 29 incidents under it" in said
        owners = [one.acknowledged_by for one in await members(yard, id)]
        assert (owners.count("U_DANA"), owners.count("slack:U_BO")) == (29, 1)
        async with yard.store.read() as snapshot:
            audited = [one.line for one in await snapshot.rows(AuditEntry).find()]
        assert audited.count(f"alert ack {id}") >= 1
        assert "You already acknowledged" in await yard.say(f"alert ack {id}")
        await yard.say(f"alert hand-over {id} U0ELI00000")
        assert {one.acknowledged_by for one in await members(yard, id)} == {"U0ELI00000", "slack:U_BO"}
        assert "waits for somebody again" in await yard.say(f"alert unack {id}")
        assert "Nobody has acknowledged" in await yard.say(f"alert unack {id}")


async def test_a_silence_of_it_mutes_its_incidents(tmp_path: Path) -> None:
    async with a_storm_of(tmp_path) as (yard, id):
        assert f"mutes incident {id} for 1 h" in await yard.say(f"silence incident {id} --for 1h")
        async with yard.store.read() as snapshot:
            (silence,) = await snapshot.rows(Silence).find()
        found = await members(yard, id)
        card = await yard.say(f"incident show {id}")
    assert all(silence.covers_incident(one, silence.starts_at) for one in found)
    assert "silenced until" in card


async def test_it_is_not_said_to_be_over_while_alerts_fire(tmp_path: Path) -> None:
    async with a_storm_of(tmp_path) as (yard, id):
        said = await yard.say(f"incident resolve {id} --reason 'power is back'")
    assert f"Incident {id} is not over: alerts fire in 30 incidents under it." in said


async def test_a_word_about_it_is_a_word_about_each_that_waits_for_a_proof(tmp_path: Path) -> None:
    async with a_storm_of(tmp_path) as (yard, id):
        async with yard.store.unit() as unit:
            for one in (await members(yard, id))[:10]:
                (alert,) = one.members
                waits = replace(alert, proofs=(Proof.WORD,), unseen_since=one.opened_at)
                await unit.rows(Incident).put(replace(one, members=(waits,)))
        said = await yard.say(f"incident resolve {id} --reason 'power is back'")
        found = await members(yard, id)
    assert f"You said that 10 of 30 open incidents of {id} are over." in said
    assert sum(one.members[0].proven is not None for one in found) == 10


async def test_one_that_is_over_takes_no_acknowledgement(tmp_path: Path) -> None:
    async with a_storm_of(tmp_path, is_over=True) as (yard, id):
        for line in (f"alert ack {id}", f"silence incident {id}", f"incident resolve {id} --reason done"):
            assert f"Incident {id} is already resolved." in await yard.say(line)
        assert "30 nodes of rack r1 had alerts" in await yard.say("incident list --all")


async def test_a_person_reopens_one_of_it_which_then_has_its_own_card(tmp_path: Path) -> None:
    async with a_storm_of(tmp_path, is_over=True) as (yard, id):
        assert f"{id} stands for many incidents" in await yard.say(
            f"incident reopen {id} --reason 'not over'"
        )
        (first, *_) = await members(yard, id)
        (alert,) = first.members
        said = Proven(proof=Proof.WORD, at=first.opened_at, who="U_DANA", reason="well")
        async with yard.store.unit() as unit:
            ended = replace(alert, proofs=(Proof.WORD,), proven=said)
            await unit.rows(Incident).put(replace(first, members=(ended,)))
        assert "You reopened incident" in await yard.say(f"incident reopen {first.id} --reason 'not over'")
        async with yard.store.read() as snapshot:
            again = await snapshot.rows(Incident).get(first.id)
            cards = await snapshot.rows(PostedCard).find(kind=CardKind.INCIDENT.value, row_id=first.id)
    assert again is not None
    assert (again.is_open, again.parent, len(cards)) == (True, "", 1)
