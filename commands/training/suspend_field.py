"""Suspending by a field of the object itself, as most kinds do, and resuming it. Pure."""

from functools import partial
from typing import Any

from collectors.facts.sentences import sentence
from collectors.trainings.queueing import QUEUE_NAME
from commands.execution.object_refs import JsonValue, ObjectRef
from commands.execution.preconditions import Precondition
from commands.execution.rights import Right
from commands.execution.steps import Create, Patch, Running, Step
from commands.training.manifests import Object, in_queue, manifest_name
from commands.training.spec import KUEUE, TrainingSpec
from commands.training.writing_kind import Suspending

SUSPEND = ("spec", "suspend")
POLICY = ("spec", "runPolicy", "suspend")  # of the kinds that have a run policy

Field = tuple[str, ...]
_NOT_OF_KUEUE = Precondition(path=("metadata", "labels", QUEUE_NAME))


def launched(spec: TrainingSpec, made: Object, tasks: str, field: Field = SUSPEND) -> tuple[Step, ...]:
    """Return the steps that create an object suspended, and start it, unless Kueue does."""
    manifest = in_queue(spec, made)
    if spec.queue_system == KUEUE:
        said = sentence(
            "create {manifest} in queue {queue} of Kueue: {tasks}",
            manifest=manifest_name(made),
            queue=spec.queue,
            tasks=tasks,
        )
        return (Create(manifest=manifest, description=said),)
    said = sentence("create {manifest}, suspended: {tasks}", manifest=manifest_name(made), tasks=tasks)
    create = Create(manifest=manifest, description=said)
    return create, start(create.ref, field)


def start(ref: ObjectRef, field: Field = SUSPEND) -> Patch:
    """Return the step that resumes what a launch just created suspended."""
    return Patch(
        ref=ref,
        description=sentence("start the workers"),
        body=_body(field, is_suspended=False),
        requires=(Precondition(path=field, equals=True),),
        undo=_body(field, is_suspended=True),
        undo_text=sentence("suspend {ref}", ref=str(ref)),
    )


def suspend(ref: ObjectRef, back: Running, field: Field = SUSPEND) -> Patch:
    """Return the step that suspends an object, unless Kueue manages it: then Kueue alone suspends and resumes it."""
    return Patch(
        ref=ref,
        description=sentence("suspend {ref}: its pods end, and undo restarts them", ref=str(ref)),
        body=_body(field, is_suspended=True),
        requires=(_NOT_OF_KUEUE,),
        undo=_body(field, is_suspended=False),
        back=back,
        undo_text=sentence("resume {ref}: its pods start again", ref=str(ref)),
    )


def resume(ref: ObjectRef, field: Field = SUSPEND) -> Patch:
    """Return the step that resumes an object that somebody suspended; its undo suspends it again."""
    return Patch(
        ref=ref,
        description=sentence("resume {ref}: its pods start again", ref=str(ref)),
        body=_body(field, is_suspended=False),
        requires=(_NOT_OF_KUEUE, Precondition(path=field, equals=True)),
        undo=_body(field, is_suspended=True),
        undo_text=sentence("suspend {ref}: its pods end", ref=str(ref)),
    )


def suspending(
    *,
    controller: str,
    pod_label: str,
    rights: tuple[Right, ...],
    has_run_policy: bool = False,
    named_by: Field = (),
) -> Suspending:
    """Return how a kind is suspended whose objects have `suspend` and `managedBy`, in their run policy or in `spec`.

    `controller`: the value of `managedBy` that means the kind's own.
    """
    field = POLICY if has_run_policy else SUSPEND

    def policy_of(found: Any) -> Any:
        return found.spec.run_policy if has_run_policy else found.spec

    def is_suspended(found: Any) -> bool:
        return bool(policy_of(found).suspend)

    def managed_by(found: Any) -> str:
        by: str = policy_of(found).managed_by
        return "" if by == controller else by

    return Suspending(
        is_suspended=is_suspended,
        step=partial(suspend, field=field),
        resume=partial(resume, field=field),
        pod_label=pod_label,
        named_by=named_by,
        managed_by=managed_by,
        rights=rights,
    )


def _body(field: Field, *, is_suspended: bool) -> dict[str, JsonValue]:
    body: Any = is_suspended
    for key in reversed(field):
        body = {key: body}
    found: dict[str, JsonValue] = body
    return found
