"""Counts of what rules did by themselves, or would have done, and of people who then did the same or the opposite."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from commands.execution.plan import Plan, PlanState
from commands.gates.node_use import nodes_put_back, nodes_taken_out
from commands.gates.remediation import Remediation, RemediationState

WEEK = timedelta(days=7)
ANSWERED_WITHIN = timedelta(days=1)  # what a person does later is about something else


@dataclass(frozen=True, slots=True, kw_only=True)
class RemediationCount:
    """Of one rule, in a week. `same` and `opposite`: after how many of the trials a person did that."""

    trials: int = 0
    same: int = 0
    opposite: int = 0
    ran: int = 0
    undone: int = 0  # of those that ran
    held: int = 0  # or refused, or stopped by a breaker


def remediation_counts(
    remediations: Iterable[Remediation], plans: Iterable[Plan], now: datetime
) -> Mapping[str, RemediationCount]:
    """Return the counts by the rule's id. `plans`: those that are done, of people and of automation."""
    done = [plan for plan in plans if plan.state is PlanState.DONE and plan.confirmed_at is not None]
    undone = {plan.undo_of for plan in done if plan.undo_of}
    by_people = [plan for plan in done if not plan.origin.remediation]
    found: dict[str, RemediationCount] = {}
    for one in remediations:
        if now - one.at > WEEK:
            continue
        before = found.get(one.rule, RemediationCount())
        is_trial = one.state is RemediationState.TRIAL
        is_run = one.state is RemediationState.RUN
        after = [plan for plan in by_people if is_trial and _answers(plan, one)]
        found[one.rule] = RemediationCount(
            trials=before.trials + is_trial,
            same=before.same + any(_is_same(plan, one) for plan in after),
            opposite=before.opposite + any(one.node in nodes_put_back(plan) for plan in after),
            ran=before.ran + is_run,
            undone=before.undone + (is_run and one.plan in undone),
            held=before.held + (not is_trial and not is_run),
        )
    return found


def _answers(plan: Plan, one: Remediation) -> bool:
    return plan.confirmed_at is not None and timedelta() <= plan.confirmed_at - one.at <= ANSWERED_WITHIN


def _is_same(plan: Plan, one: Remediation) -> bool:
    """Whether the plan did what the trial would have done, by whatever command."""
    if one.node and one.command == "node cordon":
        return one.node in nodes_taken_out(plan)
    return plan.line == one.line
