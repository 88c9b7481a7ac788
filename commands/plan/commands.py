"""The commands `plan list|show|confirm|cancel|exceed|undo`."""

from dataclasses import dataclass, replace

import click

from alerts.cards.message import Color, Message, Preformatted
from alerts.cards.text import text
from alerts.store import Unit
from collectors.facts.sentences import Sentence, counted, sentence
from commands.core.command import Answer, Command, DeniedError
from commands.core.confirmation import already, namespaces_of
from commands.core.context import CommandContext
from commands.core.named_rows import named_plan
from commands.core.parameter_types import PLAN
from commands.core.parameters import flag, option, reason_option
from commands.core.plan_undo import PlanName, journal_of, stored_plan, undo
from commands.execution.job_runs import JobRun
from commands.execution.plan import Plan, PlanState
from commands.execution.plan_card import details
from commands.execution.plan_outcome import end_unbegun
from commands.gates.price import price_of
from commands.plan.waiting import ListPlans, listing


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceedBudget:
    plan: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowPlan:
    plan: str
    json: bool


async def show(action: ShowPlan, context: CommandContext) -> Answer:
    plan = await stored_plan(PlanName(plan=action.plan), context)
    if action.json:
        title = sentence("What is at stake in plan `{plan}`", plan=plan.id)
        price = Preformatted(lines=(price_of(plan.stakes).as_json,))
        return Answer(message=Message(title=text(title), blocks=(price,)))
    async with context.store.read() as snapshot:
        runs = await snapshot.rows(JobRun).find(plan=plan.id)
    return Answer(message=details(plan, await journal_of(plan, context), runs))


async def confirm(named: PlanName, context: CommandContext) -> Answer:
    assert context.confirm is not None
    answer: Answer = await context.confirm(named.plan, hash=named.hash, actor=context.actor)
    return answer


async def exceed(action: ExceedBudget, context: CommandContext) -> Answer:
    assert context.exceed is not None
    answer: Answer = await context.exceed(action.plan, reason=action.reason, actor=context.actor)
    return answer


async def cancel(named: PlanName, context: CommandContext) -> Answer:
    async with context.store.unit() as unit:
        plan = await named_plan(named.plan, unit)
        if plan.parts:
            return await _cancel_parts(plan, unit, context)
        was_running = await _cancel(plan, unit, context)
    effect = sentence("it stops after the current step") if was_running else sentence("nothing was done")
    return _cancelled(plan, effect)


async def _cancel_parts(whole: Plan, unit: Unit, context: CommandContext) -> Answer:
    """Cancel those parts of a divided plan that are not over."""
    found = await unit.rows(Plan).get_all(whole.parts)
    left = [one for one in found.values() if not one.is_over]
    if not left:
        raise already(whole)
    for part in left:
        await _cancel(part, unit, context)
    effect = counted(
        "{count} of its {parts} parts was not finished",
        "{count} of its {parts} parts were not finished",
        count=len(left),
        parts=len(whole.parts),
    )
    return _cancelled(whole, effect)


async def _cancel(plan: Plan, unit: Unit, context: CommandContext) -> bool:
    """Cancel the plan, and return whether it was running. Raises UnusableError and DeniedError."""
    if plan.is_over:
        raise already(plan)
    denied = context.refusal(plan.command, *namespaces_of(plan.steps))
    if not context.actor.is_one(plan.actor) and denied is not None:
        raise DeniedError(
            sentence(
                "Plan `{plan}` belongs to {owner}. {denied}",
                plan=plan.id,
                owner=plan.actor_name,
                denied=denied,
            ),
            plan=plan.id,
        )
    was_running = plan.state is PlanState.RUNNING
    reason = sentence("cancelled by {actor}", actor=context.actor.name)
    if was_running:  # the executor ends it
        await unit.rows(Plan).put(replace(plan, state=PlanState.CANCELLED, error=reason))
    else:
        await end_unbegun(unit, plan, reason, context.now)
    return was_running


def _cancelled(plan: Plan, effect: Sentence) -> Answer:
    return Answer(
        message=Message(
            title=text(sentence("{title}: cancelled, {effect}.", title=plan.title, effect=effect)),
            color=Color.QUIET,
        )
    )


_PLAN = click.Argument(["plan"], type=PLAN)

COMMANDS = (
    Command(
        noun="plan",
        verb="list",
        summary="List the plans that wait or run: for what, since when, and whose.",
        action=ListPlans,
        parameters=(flag("--mine", help="only your own"),),
        read=listing,
        example="plan list",
    ),
    Command(
        noun="plan",
        verb="show",
        summary="Show a plan: its steps, who requested it, its progress.",
        action=ShowPlan,
        parameters=(
            _PLAN,
            flag("--json", help="only what is at stake, as JSON"),
        ),
        read=show,
        table=Plan,
        example="plan show p12",
    ),
    Command(
        noun="plan",
        verb="confirm",
        summary="Confirm a proposed plan, as its button does.",
        action=PlanName,
        parameters=(
            _PLAN,
            option("--hash", help="the hash of the plan as it was shown"),
        ),
        record=confirm,
        checks_permission_itself=True,
        for_whom="For whoever asked for the plan. If it needs a second person, for anybody else who may run the plan's "
        "command there, and for the owner of all the work that it ends.",
        table=Plan,
        example="plan confirm p12 --hash 4f0c2a9b1d3e",
    ),
    Command(
        noun="plan",
        verb="cancel",
        summary="Cancel a proposed plan, or stop a running one after its current step.",
        action=PlanName,
        parameters=(_PLAN,),
        record=cancel,
        checks_permission_itself=True,
        for_whom="For whoever asked for the plan, and for anybody who may run its command.",
        table=Plan,
        example="plan cancel p12",
    ),
    Command(
        noun="plan",
        verb="exceed",
        summary="Take a plan over the budget or window that holds it back; a second person confirms.",
        action=ExceedBudget,
        parameters=(_PLAN, reason_option("why it cannot wait", required=True)),
        record=exceed,
        checks_permission_itself=True,
        for_whom="For whoever may run the command of the plan; a second person who may run it confirms.",
        table=Plan,
        example='plan exceed p12 --reason "the node loses data"',
    ),
    Command(
        noun="plan",
        verb="undo",
        summary="Undo what a plan did, as far as possible.",
        action=PlanName,
        parameters=(_PLAN,),
        plan=undo,
        checks_permission_itself=True,
        for_whom="For teams that have `plan undo` and the command of the plan, and for the owner whose GPUs it freed.",
        table=Plan,
        example="plan undo p12",
    ),
)
