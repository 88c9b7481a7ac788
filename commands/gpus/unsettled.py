"""This file finds the open claims that nothing would settle any more, so that the agenda takes them up again."""

from dataclasses import replace
from datetime import datetime

from commands.claims import OPEN, due_id, due_of
from commands.gpus.answering import LOOK_AGAIN
from commands.plans import PlanState
from commands.rows import Due
from commands.steps import Record
from commands.stores import Unit


async def unsettled(unit: Unit, now: datetime) -> list[Due]:
    """What the agenda lacks: the settling of each open claim that is not on it, nor in a plan under way.

    Settling may have been refused or cut off, its plan may have failed, or somebody undid it. A claim whose time
    is up is due after a pause, at a new moment: its old gesture would not be taken again.
    """
    in_plans = await _in_plans(
        unit
    )  # read before the claims, so that a plan that ends meanwhile has left its mark
    found = [claim for state in OPEN for claim in await unit.claims.find(state=state.value, limit=10_000)]
    return [
        replace(due_of(claim), at=claim.grace_until if now < claim.grace_until else now + LOOK_AGAIN)
        for claim in found
        if claim.id not in in_plans and await unit.agenda.get(due_id(claim)) is None
    ]


async def _in_plans(unit: Unit) -> set[str]:
    """The claims of which a plan under way says what becomes of them."""
    return {
        step.id
        for state in (PlanState.CONFIRMED, PlanState.RUNNING)
        for plan in await unit.plans.find(state=state.value)
        for step in plan.steps
        if isinstance(step, Record) and step.table == "claims"
    }
