"""The undoing of a plan: whether there is anything left to undo, for its card and `plan undo`. Pure."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Plan, StepRecord, StepState, inverse_of
from commands.execution.steps import Delete, Patch, Record, Running, Step, Wait


def can_undo(plan: Plan, records: Sequence[StepRecord], settled: Collection[str] = ()) -> bool:
    """Whether a step that was done, or may have been, has an inverse, and the plan was not undone yet.

    `settled`: ids of rows that are no longer as the plan put them, as of a cordon that was lifted. Neither
    they nor the objects that they are about are the plan's any more.

    What it deleted itself cannot be as before, and what it took back itself is. Of a plan that changed the cluster the
    records alone are nothing to undo either: they would say what is not so.
    """
    if not plan.has_ended or plan.undone_by:
        return False
    pairs = list(zip(plan.steps, records, strict=True))
    deleted = [
        step.ref for step, record in pairs if isinstance(step, Delete) and record.state is StepState.DONE
    ]
    patched = [
        (step.ref, step.body)
        for step, record in pairs
        if isinstance(step, Patch) and record.state is StepState.DONE
    ]
    others = {
        (one.ref.kind, one.ref.namespace, one.ref.name)
        for step in plan.steps
        if isinstance(step, Record) and step.id in settled
        for one in step.about
    }
    inverted = [
        step
        for step, record in pairs
        if record.state is StepState.UNKNOWN
        or (
            inverse_of(step, record) is not None
            and not _is_of_deleted(step, deleted)
            and not _is_taken_back(step, patched)
            and not _is_settled(step, settled, others)
        )
    ]
    is_only_recorded = all(isinstance(step, Record | Wait | Running) for step in plan.steps)
    return any(is_only_recorded or not isinstance(step, Record) for step in inverted)


def _is_of_deleted(step: Step, deleted: Sequence[ObjectRef]) -> bool:
    """Whether the step is about an object that is deleted, or is in a namespace that is."""
    if isinstance(step, Record):
        return False
    own = step.ref
    return any(
        (one.kind, one.namespace, one.name) == (own.kind, own.namespace, own.name)
        or (one.kind == "Namespace" and one.name == own.namespace)
        for one in deleted
    )


def _is_settled(step: Step, rows: Collection[str], others: Collection[tuple[str, str, str]]) -> bool:
    if isinstance(step, Record):
        return step.id in rows or step.goes_with in rows
    return (step.ref.kind, step.ref.namespace, step.ref.name) in others


def _is_taken_back(step: Step, patched: Sequence[tuple[ObjectRef, Mapping[str, Any]]]) -> bool:
    """Whether a step of the same plan has done what the inverse of this one would do."""
    return isinstance(step, Patch) and (step.ref, step.undo) in patched
