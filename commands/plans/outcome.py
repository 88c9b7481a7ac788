"""This file records how a deed ended: in the audit, on its incident, and with the plan that it takes back."""

from dataclasses import replace

from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.grouping import add_action
from commands.models import AuditEntry
from commands.plans.plan import Plan, PlanState
from commands.store import Unit


async def record_outcome(unit: Unit, plan: Plan) -> None:
    """Record a plan that has ended, once: in the unit that keeps its last state, so that neither is there alone."""
    assert plan.ended_at is not None
    entry = AuditEntry(
        id=f"{plan.id}/{plan.state.value}",
        cluster=plan.cluster,
        at=plan.ended_at,
        actor=plan.actor,
        actor_name=plan.actor_name,
        line=plan.line,
        what=plan.state.value,
        plan=plan.id,
        text=plan.error,
    )
    if not await unit.audit.add(entry) or plan.state is not PlanState.DONE:
        return
    if plan.undo_of and (undone := await unit.plans.get(plan.undo_of)) is not None:
        await unit.plans.put(replace(undone, undone_by=plan.id))
        for card in await unit.cards.find(kind=CardKind.PLAN.value, row_id=undone.id):
            await reopen(card, unit)  # it says that it was undone, however long ago it was done
    if plan.origin.incident and (incident := await unit.incidents.get(plan.origin.incident)) is not None:
        noted = add_action(
            incident,
            plan=plan.id,
            line=plan.line,
            who=plan.actor,
            who_name=plan.actor_name,
            now=plan.ended_at,
        )
        await unit.incidents.put(noted)


async def reopen(card: PostedCard, unit: Unit) -> PostedCard:
    """The card, live."""
    if not card.is_final:
        return card
    woken = replace(card, is_final=False)
    await unit.cards.put(woken)
    return woken
