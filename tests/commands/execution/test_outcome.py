"""What was done counts for the incidents about what it changed, whoever did it and however."""

from dataclasses import replace

import pytest

from alerts.cards.event_words import resolution
from alerts.cards.posted import CardId, CardKind, PostedCard
from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from commands.execution.disruption import Disruption
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Origin, Plan, PlanState, in_order
from commands.execution.plan_outcome import record_outcome
from commands.execution.steps import Patch
from commands.incident.card_context import incident_context
from tests.support.alerting import CLUSTER, NOON, a_topology, an_alert, minutes
from tests.support.execution import plan_of
from tests.support.grouping import add_alert
from tests.support.memory_store import MemoryStore

IDLE = an_alert("GPUIdle", namespace="vision", pod="detr-0")
HOT = an_alert("GPUTemperatureHigh", node="gpu-a01")
SLOW = an_alert("CoreDNSLatencyHigh", component="dns")


def incident_of(id: str, alert: object = IDLE, *, opened: float = 0, ended: float | None = None) -> Incident:
    at = NOON + minutes(opened)
    grouping = GroupingContext(rules={}, topology=a_topology())
    found = add_alert(open_incident(id, alert, channels=("C1",), now=at), alert, grouping, at)  # type: ignore[arg-type]
    return found if ended is None else replace(found, resolved_at=NOON + minutes(ended))


def done(command: str, *, at: float = 5, relieves: tuple[str, ...] = (), **parts: object) -> Plan:
    when = NOON + minutes(at)
    made = replace(
        plan_of(),
        id="p1",
        cluster=CLUSTER,
        line=command,
        command=" ".join(command.split()[:2]),
        relieves=relieves,
        state=PlanState.DONE,
        confirmed_at=when,
        ended_at=when,
    )
    return replace(made, **parts)  # type: ignore[arg-type]


FREED = done("gpu settle c1", relieves=("GPUIdle",), disrupts=(Disruption(name="vision/detr"),))
CORDON = done(
    "node cordon gpu-a01",
    stages=in_order(
        Patch(ref=ObjectRef(api="v1", kind="Node", name="gpu-a01"), description="cordon", body={})
    ),
)
SCALED = done("dns scale 3", relieves=("CoreDNS*",))


async def after(plan: Plan, *incidents: Incident) -> dict[str, tuple[str, ...]]:
    """Return the plans that each incident has once the plan's outcome is recorded."""
    store = MemoryStore()
    async with store.unit() as unit:
        for incident in incidents:
            await unit.rows(Incident).put(incident)
        await unit.rows(Plan).put(plan)
        await record_outcome(unit, plan)
    async with store.read() as snapshot:
        return {one.id: one.fixed_by for one in await snapshot.rows(Incident).find(cluster=CLUSTER)}


@pytest.mark.parametrize(
    ("plan", "alert"),
    [
        pytest.param(FREED, IDLE, id="automation suspends the training"),
        pytest.param(CORDON, HOT, id="a person types a cordon of its node"),
        pytest.param(SCALED, SLOW, id="a person types a command about its component"),
    ],
)
async def test_an_action_counts_for_the_incident_about_what_it_changed(plan: Plan, alert: object) -> None:
    assert await after(plan, incident_of("i1", alert)) == {"i1": ("p1",)}


@pytest.mark.parametrize(
    ("incident", "counts"),
    [
        pytest.param(incident_of("i1", an_alert("GPUIdle", node="gpu-a02")), False, id="of another object"),
        pytest.param(incident_of("i1", opened=9), False, id="opened after it"),
        pytest.param(incident_of("i1", ended=3), False, id="over before it"),
        pytest.param(incident_of("i1", ended=6), True, id="over while it ran"),
        pytest.param(
            replace(incident_of("i1"), reopened_at=NOON + minutes(8), times=2), False, id="reopened after it"
        ),
        pytest.param(replace(incident_of("i1"), cluster="prod-b"), False, id="of another cluster"),
    ],
)
async def test_only_an_incident_that_was_open_then_counts_it(incident: Incident, counts: bool) -> None:
    found = await after(FREED, incident)

    assert found.get("i1", ()) == (("p1",) if counts else ())


async def test_the_card_of_an_incident_that_was_over_while_it_ran_is_written_again() -> None:
    store = MemoryStore()
    card = PostedCard(
        id=CardId("c1"), kind=CardKind.INCIDENT, cluster=CLUSTER, row_id="i1", channel="C1", is_final=True
    )
    other = replace(card, id=CardId("c2"), row_id="i2")
    async with store.unit() as unit:
        await unit.rows(Incident).put(incident_of("i1", ended=5))
        await unit.rows(Incident).put(incident_of("i2", ended=3))
        for one in (card, other):
            await unit.rows(PostedCard).put(one)
        await record_outcome(unit, FREED)
    async with store.read() as snapshot:
        found = {one.id: one.is_final for one in await snapshot.rows(PostedCard).find()}
    assert found == {"c1": False, "c2": True}


async def test_what_is_pressed_counts_for_its_card_and_for_what_it_changed() -> None:
    pressed = replace(CORDON, origin=Origin(incident="i1"))

    found = await after(pressed, incident_of("i1", SLOW), incident_of("i2", HOT))

    assert found == {"i1": ("p1",), "i2": ("p1",)}


@pytest.mark.parametrize(
    ("plan", "alert", "said"),
    [
        (FREED, IDLE, "Resolved after 9 min. Fixed by gpu settle c1 by "),
        (CORDON, HOT, "Resolved after 9 min. Meanwhile: node cordon gpu-a01 by "),
        (SCALED, SLOW, "Resolved after 9 min. Fixed by dns scale 3 by "),
    ],
)
async def test_the_card_names_what_was_typed_or_run_by_automation(
    plan: Plan, alert: object, said: str
) -> None:
    store = MemoryStore()
    async with store.unit() as unit:
        await unit.rows(Incident).put(incident_of("i1", alert))
        await unit.rows(Plan).put(plan)
        await record_outcome(unit, plan)
    async with store.read() as snapshot:
        incident = await snapshot.rows(Incident).get("i1")
        assert incident is not None
        over = replace(incident, resolved_at=NOON + minutes(9))
        context = await incident_context(over, snapshot, rules={}, now=NOON + minutes(9))

    assert plain(resolution(over, context)).startswith(said)


async def test_what_was_done_before_the_incident_was_reopened_is_not_named() -> None:
    again = replace(incident_of("i1"), reopened_at=NOON + minutes(8), times=2, fixed_by=("p1",))
    store = MemoryStore()
    async with store.unit() as unit:
        await unit.rows(Plan).put(FREED)
    async with store.read() as snapshot:
        context = await incident_context(again, snapshot, rules={}, now=NOON + minutes(9))

    assert context.actions == ()
