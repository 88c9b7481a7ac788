"""This file has `plan confirm|show|cancel|undo`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import click
import msgspec

from alerts.cards.message import Color, Message, text
from commands.core.command import ROW_NAME, Answer, Command, DeniedError, PlanDraft, UnusableError
from commands.core.confirmation import namespaces_of
from commands.core.context import CommandContext
from commands.gpu.reclaim_card import settlement_id
from commands.models import ReclaimRequest
from commands.plans.outcome import record_outcome
from commands.plans.plan import Plan, PlanState, Risk, StepRecord, StepState, inverse_of
from commands.plans.preview import can_undo, details
from commands.plans.steps import Create, Delete, Record, Step
from commands.training.stop import deleted_with_namespace, lost_work, training_summary


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanName:
    plan: str
    hash: str = ""


async def _plan(named: PlanName, context: CommandContext) -> Plan:
    async with context.store.unit() as unit:
        plan = await unit.plans.get(named.plan)
    if plan is None:
        raise UnusableError(
            f"There is no plan `{named.plan}`. Plans are called p1, p2, …; `audit` lists the last ones."
        )
    return plan


async def show(named: PlanName, context: CommandContext) -> Answer:
    return Answer(message=details(await _plan(named, context)))


async def confirm(named: PlanName, context: CommandContext) -> Answer:
    assert context.confirm is not None
    answer: Answer = await context.confirm(named.plan, hash=named.hash, actor=context.actor)
    return answer


async def cancel(named: PlanName, context: CommandContext) -> Answer:
    async with context.store.unit() as unit:
        plan = await unit.plans.get(named.plan)
        if plan is None:
            raise UnusableError(f"There is no plan `{named.plan}`.")
        if plan.is_over:
            raise UnusableError(f"Plan `{plan.id}` ({plan.title}) is {plan.state.value} already.")
        denied = context.refusal(plan.command, *namespaces_of(plan.steps))
        if plan.actor != context.actor.id and denied is not None:
            raise DeniedError(f"Plan `{plan.id}` is {plan.actor_name}'s: {denied}", plan=plan.id)
        was_running = plan.state is PlanState.RUNNING
        reason = f"cancelled by {context.actor.name}"
        ended_at = None if was_running else context.now  # one that runs is ended by the performer
        left = replace(plan, state=PlanState.CANCELLED, error=reason, ended_at=ended_at)
        await unit.plans.put(left)
        if plan.state is PlanState.CONFIRMED:
            await record_outcome(unit, left)
    said = "it stops after the step that is being done" if was_running else "nothing was done"
    return Answer(message=Message(title=text(f"{plan.title}: cancelled, {said}."), color=Color.QUIET))


async def undo(named: PlanName, context: CommandContext) -> PlanDraft:
    plan = await _plan(named, context)
    if plan.undone_by:
        raise UnusableError(f"Plan `{plan.id}` was undone already, by plan `{plan.undone_by}`.")
    if not plan.is_over:
        raise UnusableError(
            f"Plan `{plan.id}` is {plan.state.value}: `plan cancel {plan.id}` stops it first."
        )
    if not plan.has_ended:
        raise UnusableError(f"Plan `{plan.id}` still does the step that was begun: try again in a moment.")
    if (denied := context.refusal(plan.command, *namespaces_of(plan.steps))) is not None:
        raise DeniedError(f"Undoing plan `{plan.id}` needs the right to do it: {denied}", plan=plan.id)
    if not can_undo(plan):
        raise UnusableError(f"Plan `{plan.id}` did nothing that can be taken back.")
    pairs = list(zip(plan.steps, plan.records, strict=True))
    left = await _answered_since(pairs, context)
    settled = {id for one in left for id in (one.id, settlement_id(one))}
    steps = tuple(
        inverse
        for step, record in reversed(pairs)
        if (inverse := inverse_of(step, record)) is not None
        and not (isinstance(inverse, Record) and inverse.id in settled)
    )
    if left and not steps:
        raise UnusableError(
            f"Plan `{plan.id}` cannot be taken back any more: {'; '.join(map(_stays, left))}."
        )
    made = {step.ref.name for step in steps if isinstance(step, Delete) and step.ref.kind == "Namespace"}
    stuck = [
        step.description
        for step, record in pairs
        if record.state is StepState.DONE
        and inverse_of(step, record) is None
        and isinstance(step, Delete | Create)
        and step.ref.namespace not in made  # what goes with its namespace does not stay
    ]
    notes = tuple(f"This stays as it is: {says}" for says in (*stuck, *map(_stays, left)))
    ended = [
        training
        for training in (context.cluster.trainings() if made else ())
        if training.namespace in made and not training.state.is_over
    ]
    return PlanDraft(
        title=f"Undo: {plan.title}",
        steps=steps,
        notes=(*[await lost_work(training, context) for training in ended], *_with(made, context), *notes),
        disrupts=tuple(training_summary(training) for training in ended),
        undo_of=plan.id,
    )


def _with(namespaces: set[str], context: CommandContext) -> list[str]:
    """That the namespaces go, which may stand far down among the steps, and what goes with them."""
    inventory = context.cluster.inventory()
    return [
        " ".join([f"Namespace {name} goes with all that is in it.", *deleted_with_namespace(name, inventory)])
        for name in sorted(namespaces)
    ]


async def _answered_since(
    pairs: Sequence[tuple[Step, StepRecord]], context: CommandContext
) -> list[ReclaimRequest]:
    """The claims of the plan that are not any more as it put them: an answer is not taken back with the question."""
    found = []
    async with context.store.unit() as unit:
        for step, done in pairs:
            if isinstance(step, Record) and step.table == "reclaim_requests" and done.state is StepState.DONE:
                reclaim = await unit.reclaim_requests.get(step.id)
                if reclaim is not None and msgspec.to_builtins(reclaim) != step.row:
                    found.append(reclaim)
    return found


def _stays(reclaim: ReclaimRequest) -> str:
    return f"claim {reclaim.id} on {reclaim.training}, which is {reclaim.state.value} by now"


_PLAN = click.Argument(["plan"], type=ROW_NAME)

COMMANDS = (
    Command(
        noun="plan",
        verb="show",
        summary="Show a plan: its steps, who asked, how far it is.",
        action=PlanName,
        parameters=(_PLAN,),
        read=show,
        table="plans",
        example="plan show p12",
    ),
    Command(
        noun="plan",
        verb="confirm",
        summary="Confirm a plan that was shown; its button does the same.",
        action=PlanName,
        parameters=(_PLAN, click.Option(["--hash"], default="", help="of the plan as it was shown")),
        record=confirm,
        checks_permission_itself=True,
        table="plans",
        example="plan confirm p12",
    ),
    Command(
        noun="plan",
        verb="cancel",
        summary="Leave a plan, or stop it after the step that is being done.",
        action=PlanName,
        parameters=(_PLAN,),
        record=cancel,
        checks_permission_itself=True,
        table="plans",
        example="plan cancel p12",
    ),
    Command(
        noun="plan",
        verb="undo",
        summary="Take back what a plan did, as far as it can be.",
        action=PlanName,
        parameters=(_PLAN,),
        plan=undo,
        risk=Risk.TOUCH,
        table="plans",
        example="plan undo p12",
    ),
)
