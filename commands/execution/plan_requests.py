"""The requests that a plan made to owners: closed once their answers no longer count."""

from dataclasses import replace

from alerts.store import Unit
from collectors.facts.sentences import sentence
from commands.execution.plan import Plan, PlanState
from commands.models import OPEN_REQUEST, ReclaimRequest, ReclaimState


async def close_requests(unit: Unit, plan: Plan) -> None:
    """Close the open requests of a plan that begins or ends, in the same transaction."""
    if not any(one.asks for one in plan.disrupts):
        return
    reason = (
        sentence("plan {plan} goes on", plan=plan.id)
        if plan.state is PlanState.RUNNING
        else sentence("plan {plan} has ended: {why}", plan=plan.id, why=plan.error)
        if plan.error
        else sentence("plan {plan} has ended", plan=plan.id)
    )
    for one in await unit.rows(ReclaimRequest).find(for_plan=plan.id):
        if one.state in OPEN_REQUEST:
            await unit.rows(ReclaimRequest).put(replace(one, state=ReclaimState.VOID, keep_reason=reason))
