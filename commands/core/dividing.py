"""Division of plans: one that waits becomes several, each of which begins as soon as it may. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from collectors.facts.sentences import listed, sentence
from commands.core.command import PlanDraft
from commands.execution.disruption import worse_than_shown
from commands.execution.plan import GateName, Plan, PlanState

# Where a part may go on before the others: a budget has a place for it, its owners have agreed.
DIVIDES_AT = frozenset({GateName.BUDGET, GateName.OWNERS})


def may_be_divided(plan: Plan) -> bool:
    """Whether a plan waits only where parts of it may go on. One that was divided is not divided again."""
    return (
        plan.state is PlanState.WAITING
        and len(plan.lines) > 1
        and bool(plan.gates)
        and DIVIDES_AT.issuperset(plan.gates)
        and not (plan.part_of or plan.over_budget or plan.is_fixed)
    )


def does_more(plan: Plan, part: PlanDraft, breaks: Sequence[str]) -> bool:
    """Whether the draft of a part does anything that was not confirmed."""
    confirmed = [step.meaning() for step in plan.steps]
    return (
        any(step.meaning() not in confirmed for step in part.steps)
        or not set(part.decided) <= set(plan.decided)
        or not set(part.blockers) <= set(plan.blockers)
        or not set(breaks) <= set(plan.breaks)
        or bool(worse_than_shown(plan.disrupts, part.disrupts))
    )


def as_part(part: Plan, whole: Plan) -> Plan:
    """Return the part as it is confirmed: with the confirmation of the whole."""
    return replace(
        part,
        state=PlanState.CONFIRMED,
        part_of=whole.id,
        actor_teams=whole.actor_teams,
        confirmed_by=whole.confirmed_by,
        confirmed_by_name=whole.confirmed_by_name,
        confirmed_at=whole.confirmed_at,
        concerned=whole.concerned,
    )


def divided(whole: Plan, parts: Sequence[Plan], now: datetime) -> Plan:
    """Return the plan that was divided, which is over."""
    goes_on = sentence("it goes on as plans {plans}", plans=listed((one.id for one in parts), "and", most=8))
    return replace(
        whole,
        state=PlanState.CANCELLED,
        ended_at=now,
        error=goes_on,
        parts=tuple(one.id for one in parts),
    )
