"""A plan's card offers to undo it while there is something to undo."""

from dataclasses import replace
from typing import Any

from alerts.cards.posted import CardKind
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext
from commands.execution.plan import Plan, PlanState, StepRecord, StepState, in_order
from commands.execution.record_steps import record
from commands.gpu.reclaim_requests import request_step, settlement_step
from commands.models import ReclaimRequest, ReclaimState
from tests.support.execution import plan_of
from tests.support.memory_store import MemoryStore
from tests.support.rows import NOON, a_card, a_lease, a_request

ASKED = a_request(NOON)
REQUEST = request_step(ASKED, text="request 8 GPUs", before=replace(ASKED, asked_by=""))


async def offers(*steps: Any, row: ReclaimRequest) -> list[str]:
    """Return what the card of this plan, which is done, offers while the request is so."""
    ended = {"state": PlanState.DONE, "confirmed_at": NOON, "started_at": NOON, "ended_at": NOON}
    plan = replace(plan_of(), stages=in_order(*steps), **ended)
    store = MemoryStore()
    async with store.unit() as unit:
        await unit.rows(Plan).put(plan)
        await unit.rows(ReclaimRequest).put(row)
        for number, _ in enumerate(steps):
            done = StepRecord(
                id=f"{plan.id}/{number}",
                cluster=plan.cluster,
                plan=plan.id,
                number=number,
                state=StepState.DONE,
            )
            await unit.rows(StepRecord).put(done)
    context = CardContext(rules=dict, training=lambda *_: None, blind=lambda *_: {})
    async with store.read() as snapshot:
        card = await CardCatalogue(context).compose(a_card(plan.id, kind=CardKind.PLAN), snapshot, NOON)
    assert card.message is not None
    return sorted(card.message.offered)


async def test_a_request_can_be_undone_until_it_is_answered() -> None:
    steps = (REQUEST, settlement_step(ASKED))
    answered = replace(ASKED, state=ReclaimState.FREED, answered_by="U_ANA")
    assert await offers(*steps, row=ASKED) == ["plan undo p1"]
    assert await offers(*steps, row=answered) == []


async def test_what_else_the_plan_did_can_still_be_undone() -> None:
    answered = replace(ASKED, state=ReclaimState.KEPT)
    other = record("leases", a_lease(NOON), text="record the lease")
    assert await offers(REQUEST, other, row=answered) == ["plan undo p1"]
