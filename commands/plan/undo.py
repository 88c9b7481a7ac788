"""Planning of an undo: the inverses of what a plan did, and what is waited for and what is not undone."""

from collections.abc import Sequence

import msgspec

from commands.core.command import DeniedError, PlanDraft, UnusableError
from commands.core.confirmation import namespaces_of
from commands.core.context import CommandContext
from commands.gpu.freeing_plan import requests_of
from commands.gpu.owner_answers import keep_again
from commands.gpu.reclaim_card import is_owner, settlement_id
from commands.models import ReclaimRequest, ReclaimState
from commands.plan.stored import PlanName, journal_of, stored_plan
from commands.plans.plan import Plan, StepRecord, StepState, in_order, inverse_of
from commands.plans.preview import can_undo
from commands.plans.settling import settle
from commands.plans.steps import Create, Delete, Evict, Record, Running, Step, Wait
from commands.training.stop import deleted_with_namespace, disruption_of, lost_work

NAMED = 8  # steps that cannot be undone, in the notes of an undo


async def undo(named: PlanName, context: CommandContext) -> PlanDraft:
    plan = await stored_plan(named, context)
    if plan.undone_by:
        raise UnusableError(f"Plan `{plan.id}` was already undone by plan `{plan.undone_by}`.")
    if not plan.is_over:
        raise UnusableError(
            f"Plan `{plan.id}` is {plan.state.value}: stop it first with `plan cancel {plan.id}`."
        )
    if not plan.has_ended:
        raise UnusableError(f"Plan `{plan.id}` is still finishing its current step: try again in a moment.")
    await _check_permission(plan, context)
    records = await _settled(plan, context)
    if not can_undo(plan, records):
        raise UnusableError(f"Plan `{plan.id}` did nothing that can be undone.")
    pairs = list(zip(plan.steps, records, strict=True))
    changed = await _answered_since(pairs, context)
    freed = [one for one in _freed(pairs) if one.id not in {other.id for other in changed}]
    settled = {id for one in (*changed, *freed) for id in (one.id, settlement_id(one))}
    inverses = [
        (step, inverse)
        for step, record in reversed(pairs)
        if (inverse := inverse_of(step, record)) is not None
        and not (isinstance(inverse, Record) and inverse.id in settled)
    ]
    answers = tuple(keep_again(one, plan.id, context) for one in freed)
    promised = tuple(wait for step, _ in inverses if isinstance(wait := step.promised(), Wait | Running))
    steps = (*(inverse for _, inverse in inverses), *answers, *promised)
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


async def _check_permission(plan: Plan, context: CommandContext) -> None:
    """Raise DeniedError unless the actor may undo the plan: the owner may always start again what it suspended."""
    requests = requests_of(plan)
    async with context.store.read() as snapshot:
        found = [await snapshot.rows(ReclaimRequest).get(id) for id in requests]
    if requests and all(one is not None and is_owner(one, context.actor, by_name=False) for one in found):
        return
    if (denied := context.refusal("plan undo")) is not None:
        raise DeniedError(denied, plan=plan.id)
    if (denied := context.refusal(plan.command, *namespaces_of(plan.steps))) is not None:
        raise DeniedError(f"To undo plan `{plan.id}` you must be allowed to run it: {denied}", plan=plan.id)


async def _settled(plan: Plan, context: CommandContext) -> tuple[StepRecord, ...]:
    """Return the records of a plan, after another look at steps whose outcome is not known."""
    records = await journal_of(plan, context)
    if any(record.state is StepState.UNKNOWN for record in records) and context.cluster.reader is not None:
        await settle(plan, context.cluster.reader, context.store, context.now)
        records = await journal_of(plan, context)
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


def _freed(pairs: Sequence[tuple[Step, StepRecord]]) -> list[ReclaimRequest]:
    """Return the requests whose GPUs the plan freed."""
    rows = [
        msgspec.convert(step.row, ReclaimRequest)
        for step, done in pairs
        if isinstance(step, Record)
        and step.table == "reclaim_requests"
        and step.has_inverse
        and done.state is StepState.DONE
    ]
    return [one for one in rows if one.state is ReclaimState.FREED]


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
    return f"request {reclaim.id} for {reclaim.shown}, which is {reclaim.state.value} by now"
