"""Undo of plans that freed GPUs: the owner may, and it answers the request instead of opening it again."""

import msgspec

from commands.core.context import CommandContext, Undoing
from commands.execution.plan import Plan
from commands.execution.steps import Record
from commands.gpu.freeing_plan import requests_of
from commands.gpu.owner_answers import keep_again
from commands.gpu.reclaim_requests import is_owner
from commands.models import ReclaimRequest, ReclaimState


async def _is_own(plan: Plan, context: CommandContext) -> bool:
    """Whether all that the plan freed is the actor's: the owner may always start again what it suspended."""
    requests = requests_of(plan)
    async with context.store.read() as snapshot:
        found = await snapshot.rows(ReclaimRequest).get_all(requests)
    return bool(requests) and all(
        id in found and is_owner(found[id], context.actor, by_name=False) for id in requests
    )


def _instead(step: Record, plan: Plan, context: CommandContext) -> Record | None:
    if step.table != "reclaim_requests" or step.row is None:
        return None
    reclaim = msgspec.convert(step.row, ReclaimRequest)
    if reclaim.state is not ReclaimState.FREED:
        return None
    return keep_again(reclaim, plan.id, context, about=step.about_undone)


UNDOING = Undoing(is_own=_is_own, instead=_instead)
