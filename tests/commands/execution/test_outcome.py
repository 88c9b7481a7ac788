"""Actions that count for the incidents about what they changed, whoever took them and however."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from alerts.cards.event_words import resolution
from alerts.cards.posted import CardId, CardKind, PostedCard
from alerts.cards.text import plain
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.rules import Proof
from commands.core.confirmation import ProposalTimes, record_confirmation
from commands.core.request import Actor
from commands.execution.disruption import Disruption
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Origin, Plan, PlanState, in_order
from commands.execution.plan_outcome import record_outcome
from commands.execution.steps import Patch
from commands.incident.card_context import incident_context
from tests.support.alerting import CLUSTER, NOON, a_topology, an_alert, minutes
from tests.support.execution import Noon, plan_of
from tests.support.grouping import add_alert
from tests.support.memory_store import MemoryStore

DANA = Actor(id="U_DANA", name="dana")
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
_HOT = incident_of("i1", HOT)
NEEDS_REPAIR = replace(_HOT, members=(replace(_HOT.members[0], proofs=(Proof.REPAIRED,)),))
SCALED = done("dns scale 3", relieves=("CoreDNS*",))


async def after(
    plan: Plan, *incidents: Incident, meanwhile: Sequence[Incident] = (), cards: Sequence[PostedCard] = ()
) -> MemoryStore:
    """Return the store once the plan was confirmed and its outcome recorded.

    `incidents` are those when it was confirmed, and `meanwhile` what was recorded of some while it ran.
    """
    store, clock = MemoryStore(), Noon()
    assert plan.confirmed_at is not None
    clock.at = plan.confirmed_at
    proposed = replace(plan, state=PlanState.PROPOSED, confirmed_at=None, ended_at=None)
    async with store.unit() as unit:
        for incident in incidents:
            await unit.rows(Incident).put(incident)
        for card in cards:
            await unit.rows(PostedCard).put(card)
        await record_confirmation(unit, proposed, by=DANA, clock=clock, times=ProposalTimes())
    async with store.unit() as unit:
        for incident in meanwhile:
            await unit.rows(Incident).put(incident)
        confirmed = await unit.rows(Plan).get(plan.id)
        assert confirmed is not None
        ended = replace(confirmed, state=PlanState.DONE, ended_at=plan.ended_at)
        await unit.rows(Plan).put(ended)
        await record_outcome(unit, ended)
    return store


async def fixes_after(
    plan: Plan, *incidents: Incident, meanwhile: Sequence[Incident] = ()
) -> dict[str, tuple[str, ...]]:
    """Return the plans that each incident has then."""
    store = await after(plan, *incidents, meanwhile=meanwhile)
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
    assert await fixes_after(plan, incident_of("i1", alert)) == {"i1": ("p1",)}


@pytest.mark.parametrize(
    "incident",
    [
        pytest.param(incident_of("i1", an_alert("GPUIdle", node="gpu-a02")), id="of another object"),
        pytest.param(incident_of("i1", ended=3), id="over before it"),
        pytest.param(replace(incident_of("i1"), cluster="prod-b"), id="of another cluster"),
    ],
)
async def test_only_an_incident_that_was_open_about_it_counts_it(incident: Incident) -> None:
    assert not (await fixes_after(FREED, incident)).get("i1")


@pytest.mark.parametrize(
    ("then", "counts"),
    [
        pytest.param(incident_of("i1", ended=6), True, id="over while it ran"),
        # A cycle is dated when it begins, and may look at the cluster seconds after it: see what a plan did since.
        pytest.param(
            incident_of("i1", ended=4), True, id="over by a cycle that began before it was confirmed"
        ),
        pytest.param(
            replace(incident_of("i1"), reopened_at=NOON + minutes(8), times=2), False, id="reopened meanwhile"
        ),
    ],
)
async def test_an_incident_that_was_open_when_it_was_confirmed_counts_it_however_it_is_dated(
    then: Incident, counts: bool
) -> None:
    found = await fixes_after(FREED, incident_of("i1"), meanwhile=(then,))

    assert found["i1"] == (("p1",) if counts else ())


async def test_an_incident_that_opened_while_it_ran_does_not_count_it() -> None:
    found = await fixes_after(FREED, meanwhile=(incident_of("i1", opened=4),))

    assert found["i1"] == ()


async def test_the_card_of_an_incident_that_was_over_while_it_ran_is_written_again() -> None:
    card = PostedCard(
        id=CardId("c1"), kind=CardKind.INCIDENT, cluster=CLUSTER, row_id="i1", channel="C1", is_final=True
    )
    other = replace(card, id=CardId("c2"), row_id="i2")

    store = await after(
        FREED,
        incident_of("i1"),
        incident_of("i2", ended=3),
        cards=(card, other),
        meanwhile=(incident_of("i1", ended=5),),
    )

    async with store.read() as snapshot:
        found = {one.id: one.is_final for one in await snapshot.rows(PostedCard).find()}
    assert found == {"c1": False, "c2": True}


async def test_what_is_pressed_counts_for_its_card_and_for_what_it_changed() -> None:
    pressed = replace(CORDON, origin=Origin(incident="i1"))

    found = await fixes_after(pressed, incident_of("i1", SLOW), incident_of("i2", HOT))

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
    store = await after(plan, incident_of("i1", alert))
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


async def test_a_repair_that_worked_is_evidence_of_the_alert_that_it_relieves() -> None:
    store = await after(replace(CORDON, relieves=("GPUTemp*",)), NEEDS_REPAIR)
    async with store.read() as snapshot:
        (found,) = await snapshot.rows(Incident).find(cluster=CLUSTER)
    (member,) = found.members
    assert found.fixed_by == ("p1",)
    assert member.evidence is not None
    assert member.evidence.repaired_at == CORDON.ended_at
