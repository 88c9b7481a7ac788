"""The commands `plan show|confirm|cancel|undo`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import click
import msgspec

from alerts.cards.message import Color, Message, text
from commands.core.command import Answer, Command, DeniedError, PlanDraft, UnusableError
from commands.core.confirmation import namespaces_of
from commands.core.context import CommandContext
from commands.core.parameter_types import PLAN
from commands.gpu.reclaim_card import settlement_id
from commands.models import ReclaimRequest
from commands.plans.outcome import record_outcome
from commands.plans.plan import Plan, PlanState, Risk, StepRecord, StepState, in_order, inverse_of
from commands.plans.plan_journal import records_of
from commands.plans.preview import can_undo, details
from commands.plans.settling import settle
from commands.plans.steps import Create, Delete, Evict, Record, Step
from commands.training.stop import deleted_with_namespace, disruption_of, lost_work

NAMED = 8  # steps that cannot be undone, in the notes of an undo


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanName:
    plan: str
    hash: str = ""


async def _plan(named: PlanName, context: CommandContext) -> Plan:
    async with context.store.read() as snapshot:
        plan = await snapshot.rows(Plan).get(named.plan)
    if plan is None:
        raise UnusableError(
            f"There is no plan `{named.plan}`. Plans are named p1, p2, …; `audit` lists the latest."
        )
    return plan


async def show(named: PlanName, context: CommandContext) -> Answer:
    plan = await _plan(named, context)
    return Answer(message=details(plan, await _records(plan, context)))


async def _records(plan: Plan, context: CommandContext) -> tuple[StepRecord, ...]:
    async with context.store.unit() as unit:
        return await records_of(plan, unit)


async def confirm(named: PlanName, context: CommandContext) -> Answer:
    assert context.confirm is not None
    answer: Answer = await context.confirm(named.plan, hash=named.hash, actor=context.actor)
    return answer


async def cancel(named: PlanName, context: CommandContext) -> Answer:
    async with context.store.unit() as unit:
        plan = await unit.rows(Plan).get(named.plan)
        if plan is None:
            raise UnusableError(f"There is no plan `{named.plan}`.")
        if plan.is_over:
            raise UnusableError(f"Plan `{plan.id}` ({plan.title}) is already {plan.state.value}.")
        denied = context.refusal(plan.command, *namespaces_of(plan.steps))
        if plan.actor != context.actor.id and denied is not None:
            raise DeniedError(f"Plan `{plan.id}` belongs to {plan.actor_name}. {denied}", plan=plan.id)
        was_running = plan.state is PlanState.RUNNING
        reason = f"cancelled by {context.actor.name}"
        ended_at = None if was_running else context.now  # the executor ends a running plan
        cancelled = replace(plan, state=PlanState.CANCELLED, error=reason, ended_at=ended_at)
        await unit.rows(Plan).put(cancelled)
        if plan.state is PlanState.CONFIRMED:
            await record_outcome(unit, cancelled)
    effect = "it stops after the current step" if was_running else "nothing was done"
    return Answer(message=Message(title=text(f"{plan.title}: cancelled, {effect}."), color=Color.QUIET))


async def undo(named: PlanName, context: CommandContext) -> PlanDraft:
    plan = await _plan(named, context)
    if plan.undone_by:
        raise UnusableError(f"Plan `{plan.id}` was already undone by plan `{plan.undone_by}`.")
    if not plan.is_over:
        raise UnusableError(
            f"Plan `{plan.id}` is {plan.state.value}: stop it first with `plan cancel {plan.id}`."
        )
    if not plan.has_ended:
        raise UnusableError(f"Plan `{plan.id}` is still finishing its current step: try again in a moment.")
    if (denied := context.refusal(plan.command, *namespaces_of(plan.steps))) is not None:
        raise DeniedError(f"To undo plan `{plan.id}` you must be allowed to run it: {denied}", plan=plan.id)
    records = await _settled(plan, context)
    if not can_undo(plan, records):
        raise UnusableError(f"Plan `{plan.id}` did nothing that can be undone.")
    pairs = list(zip(plan.steps, records, strict=True))
    changed = await _answered_since(pairs, context)
    settled = {id for one in changed for id in (one.id, settlement_id(one))}
    steps = tuple(
        inverse
        for step, record in reversed(pairs)
        if (inverse := inverse_of(step, record)) is not None
        and not (isinstance(inverse, Record) and inverse.id in settled)
    )
    if changed and not steps:
        raise UnusableError(
            f"Plan `{plan.id}` can no longer be undone: {'; '.join(map(_request_state, changed))}."
        )
    unknown = [step.description for step, record in pairs if record.state is StepState.UNKNOWN]
    if unknown and not steps:
        raise UnusableError(
            f"Plan `{plan.id}` cannot be undone: it is not known whether this was done, and Yardmaster cannot see "
            f"it: {', '.join(_first(unknown))}."
        )
    deleted = {step.ref.name for step in steps if isinstance(step, Delete) and step.ref.kind == "Namespace"}
    irreversible = [
        step.description
        for step, record in pairs
        if record.state is StepState.DONE
        and inverse_of(step, record) is None
        and isinstance(step, Delete | Create | Evict)
        and step.ref.namespace not in deleted  # else it is deleted with its namespace
    ]
    remaining = (*_first(irreversible), *map(_request_state, changed))
    notes = (*_namespace_notes(deleted, context), *(f"This is not undone: {one}" for one in remaining))
    notes += tuple(
        f"It is not known whether this was done, so it is not undone: {one}" for one in _first(unknown)
    )
    ended = [
        training
        for training in (context.cluster.trainings() if deleted else ())
        if training.namespace in deleted and not training.state.is_over
    ]
    return PlanDraft(
        title=f"Undo: {plan.title}",
        stages=in_order(*steps),
        notes=(*[await lost_work(training, context) for training in ended], *notes),
        disrupts=tuple(disruption_of(training) for training in ended),
        undo_of=plan.id,
    )


async def _settled(plan: Plan, context: CommandContext) -> tuple[StepRecord, ...]:
    """Return the records of a plan, after another look at steps whose outcome is not known."""
    records = await _records(plan, context)
    if any(record.state is StepState.UNKNOWN for record in records) and context.cluster.reader is not None:
        await settle(plan, context.cluster.reader, context.store, context.now)
        records = await _records(plan, context)
    return records


def _first(texts: Sequence[str]) -> tuple[str, ...]:
    more = len(texts) - NAMED
    return (*texts[:NAMED], *([f"{more} more steps like these"] if more > 0 else ()))


def _namespace_notes(namespaces: set[str], context: CommandContext) -> list[str]:
    """Notes that the namespaces are deleted, as those steps may be far down the list, and what with them."""
    inventory = context.cluster.inventory()
    return [
        " ".join([f"Namespace {name} is deleted with its objects.", *deleted_with_namespace(name, inventory)])
        for name in sorted(namespaces)
    ]


async def _answered_since(
    pairs: Sequence[tuple[Step, StepRecord]], context: CommandContext
) -> list[ReclaimRequest]:
    """Return the requests that changed since the plan stored them: undoing a request does not undo its answer."""
    found = []
    async with context.store.unit() as unit:
        for step, done in pairs:
            if isinstance(step, Record) and step.table == "reclaim_requests" and done.state is StepState.DONE:
                reclaim = await unit.rows(ReclaimRequest).get(step.id)
                if reclaim is not None and msgspec.to_builtins(reclaim) != step.row:
                    found.append(reclaim)
    return found


def _request_state(reclaim: ReclaimRequest) -> str:
    return f"request {reclaim.id} for {reclaim.training}, which is {reclaim.state.value} by now"


_PLAN = click.Argument(["plan"], type=PLAN)

COMMANDS = (
    Command(
        noun="plan",
        verb="show",
        summary="Show a plan: its steps, who requested it, its progress.",
        action=PlanName,
        parameters=(_PLAN,),
        read=show,
        table=Plan,
        example="plan show p12",
    ),
    Command(
        noun="plan",
        verb="confirm",
        summary="Confirm a proposed plan, like its button does.",
        action=PlanName,
        parameters=(
            _PLAN,
            click.Option(["--hash"], default="", help="the hash of the plan as it was shown"),
        ),
        record=confirm,
        checks_permission_itself=True,
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
        table=Plan,
        example="plan cancel p12",
    ),
    Command(
        noun="plan",
        verb="undo",
        summary="Undo what a plan did, as far as possible.",
        action=PlanName,
        parameters=(_PLAN,),
        plan=undo,
        risk=Risk.TOUCH,
        table=Plan,
        example="plan undo p12",
    ),
)
