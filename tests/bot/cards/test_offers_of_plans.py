"""A plan's card suggests undoing it while there is something to undo."""

from dataclasses import replace
from typing import Any

from alerts.cards.posted import CardKind
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Plan, PlanState, StepRecord, StepState, in_order
from commands.execution.preconditions import Precondition
from commands.execution.record_steps import record
from commands.execution.steps import Patch
from commands.gpu.reclaim_requests import request_step, settlement_step
from commands.models import CordonLease, ReclaimRequest, ReclaimState
from tests.support.execution import plan_of
from tests.support.memory_store import MemoryStore
from tests.support.rows import NOON, a_card, a_lease, a_request

ASKED = a_request(NOON)
REQUEST = request_step(ASKED, text="request 8 GPUs", before=replace(ASKED, asked_by=""))
CORDON = Patch(
    ref=ObjectRef(api="v1", kind="Node", name="gpu-a01"),
    description="cordon",
    body={"spec": {"unschedulable": True}},
    requires=(Precondition(path=("spec", "unschedulable")),),
    undo={"spec": {"unschedulable": None}},
)
LEASE = a_lease(NOON)
RECORD = record("leases", LEASE, text="record the lease", about=(CORDON.leaves(),))


async def offers(*steps: Any, rows: tuple[Any, ...]) -> list[str]:
    """Return what the card of this plan, which is done, suggests while these rows are stored."""
    plan = replace(plan_of(), stages=in_order(*steps), state=PlanState.DONE, confirmed_at=NOON, ended_at=NOON)
    store = MemoryStore()
    async with store.unit() as unit:
        await unit.rows(Plan).put(plan)
        for row in rows:
            await unit.rows(type(row)).put(row)
        for number in range(len(steps)):
            done = StepRecord(
                cluster=plan.cluster, plan=plan.id, number=number, state=StepState.DONE, uid="u"
            )
            await unit.rows(StepRecord).put(done)
    context = CardContext(rules=dict, training=lambda *_: None, blind=lambda *_: {})
    async with store.read() as snapshot:
        card = await CardCatalogue(context).compose(a_card(plan.id, kind=CardKind.PLAN), snapshot, NOON)
    assert card.message is not None
    return sorted(card.message.offered)


async def test_a_request_can_be_undone_until_it_is_answered() -> None:
    answered: ReclaimRequest = replace(ASKED, state=ReclaimState.FREED, answered_by="U_ANA")
    steps = (REQUEST, settlement_step(ASKED))
    assert await offers(*steps, rows=(ASKED,)) == ["plan undo p1"]
    assert await offers(*steps, rows=(answered,)) == []


async def test_a_cordon_can_be_undone_until_it_is_lifted_or_made_again() -> None:
    ours: CordonLease = replace(LEASE, plan="p1")
    assert await offers(CORDON, RECORD, rows=(ours,)) == ["plan undo p1"]
    assert await offers(CORDON, RECORD, rows=()) == []
    assert await offers(CORDON, RECORD, rows=(replace(ours, plan="p9"),)) == []


async def test_what_else_the_plan_did_can_still_be_undone() -> None:
    kept: ReclaimRequest = replace(ASKED, state=ReclaimState.KEPT)
    lease: CordonLease = replace(LEASE, plan="p1")
    assert await offers(REQUEST, CORDON, RECORD, rows=(kept, lease)) == ["plan undo p1"]
