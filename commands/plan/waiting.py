"""`plan list`: the plans that wait or run, for what, since when, and whose."""

from dataclasses import dataclass
from datetime import datetime

from alerts.cards.message import Message, Table
from alerts.cards.text import bold, text
from collectors.facts.clock import humanize
from collectors.facts.sentences import listed, sentence, word
from commands.core.command import Answer
from commands.core.context import CommandContext
from commands.execution.plan import GateName, Plan, PlanState
from commands.execution.plan_gate import PlanJudge

SHOWN = 50
LISTED = (PlanState.PROPOSED, PlanState.CONFIRMED, PlanState.WAITING, PlanState.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListPlans:
    mine: bool


async def listing(action: ListPlans, context: CommandContext) -> Answer:
    """Return the open plans of the cluster, the one that waits longest first."""
    async with context.store.read() as snapshot:
        found = await snapshot.rows(Plan).find(
            cluster=context.cluster.name, state=tuple(one.value for one in LISTED)
        )
        judge = await context.gate.look([one for one in found if one.state is PlanState.WAITING], snapshot)
    plans = [
        one
        for one in found
        if (one.state is not PlanState.PROPOSED or context.now < one.expires_at)
        and (not action.mine or context.actor.is_one(one.actor))
    ]
    if not plans:
        return Answer(message=Message(title=text("No plans are waiting or running.")))
    plans.sort(key=_since)
    rows = tuple(
        (
            one.id,
            one.title,
            one.actor_name,
            word(one.state.value),
            humanize(context.now - _since(one), parts=1),
            *_waits_for(one, judge),
        )
        for one in plans[:SHOWN]
    )
    table = Table(
        heading=("plan", "does", "of", "state", "since", "gate", "waits for"),
        rows=rows,
        more=max(0, len(plans) - SHOWN),
    )
    return Answer(message=Message(title=text(bold("Open plans")), blocks=(table,)))


def _since(plan: Plan) -> datetime:
    return plan.confirmed_at or plan.created_at


def _waits_for(plan: Plan, judge: PlanJudge) -> tuple[str, str]:
    """Return the gates at which a plan waits, and for what, as it is now."""
    match plan.state:
        case PlanState.WAITING if (verdict := judge(plan)).holds:
            return listed(word(one.value) for one in verdict.gates), verdict.reason
        case PlanState.WAITING:
            return "", sentence("nothing any more: it begins in a moment")
        case PlanState.PROPOSED if plan.breaks and not plan.alone:
            return word(GateName.SECOND_PERSON.value), sentence("a second person")
        case PlanState.PROPOSED:
            return "", sentence("a confirmation")
        case _:
            return "", ""
