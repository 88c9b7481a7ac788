"""`plan exceed`: take a plan over the budget that holds it back, with a reason and a second person."""

from dataclasses import dataclass

from collectors.facts.sentences import sentence, word
from commands.core.command import DeniedError, PlanDraft, UnusableError
from commands.core.confirmation import namespaces_of
from commands.core.context import CommandContext
from commands.execution.plan import PlanState
from commands.plan.undo import PlanName, stored_plan


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceedBudget:
    plan: str
    reason: str


async def exceed(action: ExceedBudget, context: CommandContext) -> PlanDraft:
    """Plan the same steps in the place of a plan that is held back. They carry their own preconditions."""
    plan = await stored_plan(PlanName(plan=action.plan), context)
    if (denied := context.refusal(plan.command, *namespaces_of(plan.steps))) is not None:
        raise DeniedError(denied, plan=plan.id)
    if plan.state not in (PlanState.PROPOSED, PlanState.WAITING):
        raise UnusableError(
            sentence(
                "Plan `{plan}` ({title}) is already {state}.",
                plan=plan.id,
                title=plan.title,
                state=word(plan.state.value),
            )
        )
    if not plan.held:
        raise UnusableError(sentence("No budget holds plan `{plan}` back.", plan=plan.id))
    return PlanDraft(
        title=plan.title,
        stages=plan.stages,
        disrupts=plan.disrupts,
        decided=(*plan.decided, sentence("over its budget: {reason}", reason=action.reason)),
        breaks=(*plan.breaks, sentence("it goes over a budget")),
        undo_of=plan.undo_of,
        over_budget=action.reason,
        replaces=plan.id,
    )
