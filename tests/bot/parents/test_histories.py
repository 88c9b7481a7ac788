"""Generated histories of nodes that break, as we see or others say, recover, are silenced and acknowledged, over
restarts: nobody is lost."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from alerts.alert import Alert
from alerts.cards.posted import CardKind
from alerts.incidents.incident import Incident
from alerts.matching import Matcher, Operator
from alerts.parents.parent_incident import ParentIncident
from alerts.parents.storm_keys import node_of
from alerts.silences import Silence
from tests.support.alerting import CLUSTER
from tests.support.examples import by_profile
from tests.support.storm_stage import RULES, StormStage, a_site, racks

pytestmark = [pytest.mark.looptime, pytest.mark.soak]

NODES = racks(5, 12)
STEPS = 40


@pytest.mark.parametrize("seed", by_profile(range(12), range(1_000)))
async def test_each_open_incident_has_one_card_that_speaks_for_it(seed: int) -> None:
    random = Random(seed)
    stage = StormStage(topology=a_site(NODES, zone=random.choice(["", "z1"])))
    firing: dict[tuple[str, str], Alert] = {}
    homes: dict[str, str] = {}
    for _ in range(STEPS):
        await asyncio.sleep(random.choice([15, 15, 60, 400, 2_000]))
        match random.choice(["rack", "rack", "some", "end", "end", "all over", "silence", "ack", "restart"]):
            case "rack":
                rack = random.randint(1, 5)
                await _fire(stage, firing, random, [one for one in NODES if one.startswith(f"n{rack}-")])
            case "some":
                await _fire(stage, firing, random, random.sample(list(NODES), random.randint(1, 30)))
            case "end":
                await _end(stage, firing, [one for one in firing if random.random() < 0.5])
            case "all over":
                await _end(stage, firing, list(firing))
            case "silence":
                await _silence(stage, random)
            case "ack":
                await _acknowledge(stage, random)
            case _:
                stage.restart()
                await stage.cycle()
        await _check(stage, homes)
    await _end(stage, firing, list(firing))
    await _check(stage, homes)
    async with stage.store.read() as snapshot:
        assert not await snapshot.rows(Incident).find(state="open")
        assert not await snapshot.rows(ParentIncident).find(state="open")


async def _fire(
    stage: StormStage, firing: dict[tuple[str, str], Alert], random: Random, nodes: list[str]
) -> None:
    rules = random.sample(RULES, random.randint(1, 2))
    severity = random.choice(["warning", "critical"])
    new = [one for one in stage.alerts(nodes, rules, severity=severity) if _key(one) not in firing]
    if random.random() < 0.3:  # another program sends them
        new = [replace(one, rule=f"received/{one.name}") for one in new]
    firing.update((_key(one), one) for one in new)
    await stage.cycle(new)


async def _end(stage: StormStage, firing: dict[tuple[str, str], Alert], keys: list[tuple[str, str]]) -> None:
    await stage.end([firing.pop(key) for key in keys])


def _key(alert: Alert) -> tuple[str, str]:
    return alert.name, alert.labels["node"]


async def _silence(stage: StormStage, random: Random) -> None:
    now = stage.clock.now()
    parents = await _parents(stage, state="open")
    is_whole = bool(parents) and random.random() < 0.5
    matcher = Matcher(name="node", operator=Operator.MATCHES, value=f"n{random.randint(1, 5)}-.*")
    silence = Silence(
        id=f"s{random.random()}",
        cluster=CLUSTER,
        matchers=() if is_whole else (matcher,),
        starts_at=now,
        ends_at=now + timedelta(minutes=random.choice([1, 10, 100])),
        by="U1",
        comment="work",
        incident=random.choice(parents).id if is_whole else "",
    )
    async with stage.store.unit() as unit:
        await unit.rows(Silence).put(silence)
    await stage.cycle()


async def _acknowledge(stage: StormStage, random: Random) -> None:
    async with stage.store.unit() as unit:
        for parent in await unit.rows(ParentIncident).find(state="open"):
            if random.random() < 0.5:
                await unit.rows(ParentIncident).put(replace(parent, acknowledged_by="U1"))
    await stage.cycle()


async def _parents(stage: StormStage, **wanted: str) -> list[ParentIncident]:
    async with stage.store.read() as snapshot:
        found = snapshot.rows(ParentIncident)
        return list(await found.find(state=wanted["state"]) if wanted else await found.find())


async def _check(stage: StormStage, homes: dict[str, str]) -> None:
    """Check that each incident has one card that speaks for it, and that parents are what their members are.

    `homes`: the parents of incidents until now. A member never leaves.
    """
    await stage.cycle()  # what a silence ended with is said now
    incidents, cards = await stage.incidents(), await stage.cards()
    parents = {parent.id: parent for parent in await _parents(stage)}
    shown = {(card.kind, card.row_id) for card in cards}
    now = stage.clock.now()
    async with stage.store.read() as snapshot:
        silences = [one for one in await snapshot.rows(Silence).find() if one.is_active(now)]
        alerts = {alert.id: alert for alert in await snapshot.rows(Alert).find()}
    for incident in incidents:
        assert homes.setdefault(incident.id, incident.parent) in ("", incident.parent)
        homes[incident.id] = incident.parent
        if incident.parent:
            assert (CardKind.PARENT, incident.parent) in shown
            assert parents[incident.parent].is_open or not incident.is_open
        elif incident.is_open and (CardKind.INCIDENT, incident.id) not in shown:
            firing = [alerts[member.alert] for member in incident.firing]
            assert all(any(one.covers(alert.labels, now) for one in silences) for alert in firing)
    for parent in parents.values():
        members = [one for one in incidents if one.parent == parent.id]
        live = [one for one in members if one.is_open]
        assert parent.is_open == bool(live)
        standing = parent.standing
        assert (standing.incidents, standing.open_incidents) == (len(members), len(live))
        assert (standing.nodes, standing.open_nodes) == (
            len({node_of(one) for one in members}),
            len({node_of(one) for one in live}),
        )
        if live:
            assert standing.gravity == max(one.gravity for one in live)
