"""Planning of an undo: the inverses of what a plan did, and what is waited for and what is not undone."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from collectors.facts.sentences import counted, listed, sentence, word
from commands.core.command import DeniedError, PlanDraft, UnusableError
from commands.core.confirmation import namespaces_of
from commands.core.context import CommandContext
from commands.core.named_rows import named_plan
from commands.execution.plan import Plan, Stage, StepRecord, StepState, inverse_of
from commands.execution.plan_journal import objects_of, recorded_of, records_of
from commands.execution.record_steps import changed_after
from commands.execution.settling import settle_plan
from commands.execution.steps import Call, Create, Delete, Evict, NodeJob, Record, Running, Step, Wait
from commands.execution.undoable import can_undo


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanName:
    plan: str
    hash: str = ""


async def stored_plan(named: PlanName, context: CommandContext) -> Plan:
    async with context.store.read() as snapshot:
        return await named_plan(named.plan, snapshot)


async def journal_of(plan: Plan, context: CommandContext) -> tuple[StepRecord, ...]:
    async with context.store.unit() as unit:
        return await records_of(plan, unit)


NAMED = 8  # steps that cannot be undone, in the notes of an undo


async def undo(named: PlanName, context: CommandContext, *, by: str = "plan undo") -> PlanDraft:
    """Return the draft that reverts a plan. `by`: the command that the actor runs, and must be allowed to."""
    plan = await stored_plan(named, context)
    if plan.undone_by:
        raise UnusableError(
            sentence(
                "Plan `{plan}` was already undone by plan `{undone_by}`.",
                plan=plan.id,
                undone_by=plan.undone_by,
            )
        )
    if not plan.is_over:
        raise UnusableError(
            sentence(
                "Plan `{plan}` is {state}: stop it first with `plan cancel {plan}`.",
                plan=plan.id,
                state=word(plan.state.value),
            )
        )
    if not plan.has_ended:
        raise UnusableError(
            sentence(
                "Plan `{plan}` is still finishing its current step: try again in a moment.", plan=plan.id
            )
        )
    await _check_permission(plan, context, by)
    records = await _settled(plan, context)
    if not can_undo(plan, records):
        raise UnusableError(sentence("Plan `{plan}` did nothing that can be undone.", plan=plan.id))
    pairs = list(zip(plan.steps, records, strict=True))
    changed = await _changed_since(pairs, context)
    instead = _instead(plan, pairs, context, without=changed)
    settled = {*changed, *instead}
    inverses = {
        number: inverse
        for number, (step, record) in enumerate(pairs)
        if (inverse := inverse_of(step, record)) is not None
        and not (isinstance(inverse, Record) and not settled.isdisjoint((inverse.id, inverse.goes_with)))
    }
    inverses |= {
        number: instead[step.id]
        for number, step in enumerate(plan.steps)
        if isinstance(step, Record) and step.id in instead
    }
    promised = tuple(
        wait
        for number in sorted(inverses, reverse=True)
        if isinstance(wait := plan.steps[number].promised(), Wait | Running)
    )
    steps = (*_reverted(plan.steps, inverses), *promised)
    if changed and not steps:
        raise UnusableError(
            sentence(
                "Plan `{plan}` can no longer be undone: {changes}.",
                plan=plan.id,
                changes=listed(changed.values(), ";"),
            )
        )
    unknown = [step.description for step, record in pairs if record.state is StepState.UNKNOWN]
    if unknown and not steps:
        raise UnusableError(
            sentence(
                "Plan `{plan}` cannot be undone: it is not known whether this was done, and "
                "Yardmaster cannot see it: {steps}.",
                plan=plan.id,
                steps=listed(_first(unknown)),
            )
        )
    deleted = {step.ref.name for step in steps if isinstance(step, Delete) and step.ref.kind == "Namespace"}
    irreversible = [
        step.description
        for step, record in pairs
        if record.state is StepState.DONE
        and inverse_of(step, record) is None
        and isinstance(step, Delete | Create | Evict | NodeJob | Call)
        and step.ref.namespace not in deleted  # else it is deleted with its namespace
    ]
    effects = [await one.effects(steps, context) for one in context.undoing]
    remaining = (*_first(irreversible), *changed.values())
    notes = (
        *(note for one in effects for note in one.notes),
        *(sentence("This is not undone: {step}", step=one) for one in remaining),
    )
    notes += tuple(
        sentence("It is not known whether this was done, so it is not undone: {step}", step=one)
        for one in _first(unknown)
    )
    return PlanDraft(
        title=sentence("Undo: {title}", title=plan.title),
        stages=(Stage(steps=steps, is_apart=True),) if steps else (),
        notes=notes,
        disrupts=tuple(disruption for one in effects for disruption in one.disrupts),
        breaks=tuple(reason for one in effects for reason in one.breaks),
        undo_of=plan.id,
    )


def _reverted(steps: Sequence[Step], inverses: Mapping[int, Step]) -> tuple[Step, ...]:
    """Return the inverses in the order in which they are run: the last step is reverted first.

    A Record is reverted after what it records, and after the last step that changes what it is about: a lease that
    ends before its cordon is lifted would be none, should the cordon stay.
    """
    order = [number for number in sorted(inverses, reverse=True) if not isinstance(inverses[number], Record)]
    after: dict[int | None, list[Step]] = {}
    for number in sorted(inverses, reverse=True):
        if not isinstance(record := inverses[number], Record):
            continue
        about = objects_of(record) | objects_of(steps[number])
        last = [one for one in order if not about.isdisjoint(objects_of(inverses[one]))]
        anchor = last[-1] if last else recorded_of(steps, number)
        after.setdefault(anchor if anchor in order else None, []).append(record)
    found: list[Step] = []
    for number in order:
        found += [inverses[number], *after.get(number, ())]
    return (*found, *after.get(None, ()))


async def _check_permission(plan: Plan, context: CommandContext, by: str) -> None:
    """Raise DeniedError unless the actor may undo the plan."""
    for one in context.undoing:
        if await one.is_own(plan, context):
            return
    if (denied := context.refusal(by)) is not None:
        raise DeniedError(denied, plan=plan.id)
    if (denied := context.refusal(plan.command, *namespaces_of(plan.steps))) is not None:
        raise DeniedError(
            sentence(
                "To undo plan `{plan}` you must be allowed to run it: {denied}", plan=plan.id, denied=denied
            ),
            plan=plan.id,
        )


async def _settled(plan: Plan, context: CommandContext) -> tuple[StepRecord, ...]:
    """Return the records of a plan, after another look at steps whose outcome is not known."""
    records = await journal_of(plan, context)
    if any(record.state is StepState.UNKNOWN for record in records) and context.cluster.reader is not None:
        await settle_plan(plan, context.cluster.reader, context.store, context.now)
        records = await journal_of(plan, context)
    return records


def _first(texts: Sequence[str]) -> tuple[str, ...]:
    more = len(texts) - NAMED
    if more <= 0:
        return tuple(texts)
    others = counted("{count} more step like these", "{count} more steps like these", count=more)
    return (*texts[:NAMED], others)


def _instead(
    plan: Plan, pairs: Sequence[tuple[Step, StepRecord]], context: CommandContext, *, without: Container[str]
) -> dict[str, Record]:
    """Return the steps in the place of inverses, by the id of their row."""
    return {
        step.id: other
        for step, done in pairs
        if isinstance(step, Record) and step.id not in without and inverse_of(step, done) is not None
        for one in context.undoing
        if (other := one.instead(step, plan, context)) is not None
    }


async def _changed_since(pairs: Sequence[tuple[Step, StepRecord]], context: CommandContext) -> dict[str, str]:
    """Return the rows that changed since, by id, as text: undoing a request does not undo its answer."""
    found: dict[str, str] = {}
    async with context.store.read() as snapshot:
        for step, done in pairs:
            if not isinstance(step, Record) or done.state is not StepState.DONE:
                continue
            if state := await changed_after(snapshot, step):
                found[step.id] = sentence("{row}, which is {state} by now", row=step.expects, state=state)
    return found
