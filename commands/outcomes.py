"""This file records how a deed ended: in the audit, on its incident, and with the plan that it takes back."""

from dataclasses import replace
from datetime import datetime

from alerts.incidents.folding import add_deed
from alerts.telling.cards import CardKind
from commands.plans import Plan, PlanState
from commands.rows import AuditEntry
from commands.stores import Unit


async def record_outcome(unit: Unit, plan: Plan, now: datetime) -> None:
    """Record a plan that is over, once: in the unit that keeps its last state, so that neither is there alone."""
    entry = AuditEntry(
        id=f"{plan.id}/{plan.state.value}",
        cluster=plan.cluster,
        at=now,
        actor=plan.actor,
        actor_name=plan.actor_name,
        line=plan.line,
        what=plan.state.value,
        plan=plan.id,
        text=plan.trouble,
    )
    if not await unit.audit.add(entry) or plan.state is not PlanState.DONE:
        return
    if plan.undo_of and (undone := await unit.plans.get(plan.undo_of)) is not None:
        await unit.plans.put(replace(undone, undone_by=plan.id))
        for card in await unit.cards.find(kind=CardKind.DEED.value, of=undone.id):
            if card.is_settled:  # it says that it was undone, however long ago it was done
                await unit.cards.put(replace(card, is_settled=False))
    if plan.origin.incident and (incident := await unit.incidents.get(plan.origin.incident)) is not None:
        noted = add_deed(
            incident, plan=plan.id, line=plan.line, who=plan.actor, who_name=plan.actor_name, now=now
        )
        await unit.incidents.put(noted)
