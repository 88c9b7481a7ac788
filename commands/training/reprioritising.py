"""Planning to change the priority of a training that is there, where its queue or its kind can."""

from dataclasses import dataclass

from collectors.cluster.base import KubernetesObject
from collectors.cluster.inventory import Inventory
from collectors.facts.sentences import sentence
from collectors.facts.workload_keys import shown_kind
from collectors.trainings.queueing import PRIORITY_CLASS
from collectors.trainings.training import Training
from commands.core.command import PlanDraft, UnusableError
from commands.core.context import CommandContext
from commands.core.lookups import reader_of
from commands.execution.object_refs import ObjectReader, ObjectRef
from commands.execution.plan import in_order
from commands.execution.preconditions import Precondition
from commands.execution.steps import Patch, Step
from commands.training import kueue_steps
from commands.training.lookup import training_named
from commands.training.notes_before import notes_before
from commands.training.priority import check_priority_class, preemption_note
from commands.training.queues import queue_priority
from commands.training.training_kinds import writing_kind_of
from commands.training.workload_steps import tops_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ReprioritiseTraining:
    training: str
    priority_class: str


async def reprioritise(action: ReprioritiseTraining, context: CommandContext) -> PlanDraft:
    """Plan to give a training another priority. Raises UnusableError where that is not possible."""
    training = training_named(action.training, context.cluster.trainings())
    kind = writing_kind_of(training)
    check_priority_class(action.priority_class)
    inventory, reader = context.cluster.inventory(), reader_of(context)
    if training.state.is_over:
        raise UnusableError(sentence("{training} has ended.", training=training.shown))
    steps: list[Step] = []
    notes: list[str] = []
    for ref, found in tops_of(training, inventory):
        if found.kind_in_keys() != kind.name:
            continue
        if kueue_steps.is_managed(found):
            value = await queue_priority(action.priority_class, reader)
            steps += _in_kueue(ref, found, inventory, action.priority_class, value)
            notes.append(
                sentence(
                    "Kueue orders its queue by it, and may end trainings of lower priority for it. The priority of "
                    "its pods does not change."
                )
            )
        elif kind.reprioritise is not None:
            raw = await _read(ref, reader)
            notes.append(await preemption_note(action.priority_class, reader))
            steps.append(kind.reprioritise(ref, raw, action.priority_class))
        else:
            raise UnusableError(_fixed(training, shown_kind(kind.name), action))
    steps = [step for step in steps if not (isinstance(step, Patch) and step.undo == step.body)]
    if not steps:
        return PlanDraft.nothing(
            sentence(
                "{training} has priority {priority} already.",
                training=training.shown,
                priority=action.priority_class,
            )
        )
    return PlanDraft(
        title=sentence(
            "Give {training} priority {priority}", training=training.shown, priority=action.priority_class
        ),
        stages=in_order(*steps),
        notes=(*dict.fromkeys(notes), *notes_before("reprioritise", training, inventory)),
    )


def _in_kueue(
    ref: ObjectRef, found: KubernetesObject, inventory: Inventory, name: str, value: int
) -> list[Step]:
    """Return the step that changes the label of the object, or without one the priority of its Workload.

    Kueue forbids that a label is added to what it has admitted, and follows one that is replaced.
    """
    before = (found.metadata.labels or {}).get(PRIORITY_CLASS, "")
    if before:
        return [
            Patch(
                ref=ref,
                description=sentence(
                    "replace priority {before} of {ref} by {after} in Kueue",
                    before=before,
                    ref=str(ref),
                    after=name,
                ),
                body={"metadata": {"labels": {PRIORITY_CLASS: name}}},
                requires=(Precondition(path=("metadata", "labels", PRIORITY_CLASS), equals=before),),
                undo={"metadata": {"labels": {PRIORITY_CLASS: before}}},
            )
        ]
    return [
        Patch(
            ref=kueue_steps.ref_of_workload(one),
            description=sentence(
                "set the priority of {ref} in Kueue from {before} to {after}",
                ref=str(ref),
                before=one.spec.priority or 0,
                after=value,
            ),
            body={"spec": {"priority": value}},
            requires=(Precondition(path=("spec", "priority"), equals=one.spec.priority),),
            undo={"spec": {"priority": one.spec.priority or 0}},
        )
        for one in kueue_steps.workloads_of(found, inventory)
    ]


async def _read(ref: ObjectRef, reader: ObjectReader) -> dict[str, object]:
    raw = await reader.read(ref)
    if raw is None:
        raise UnusableError(sentence("{ref} no longer exists.", ref=str(ref)))
    return raw


def _fixed(training: Training, kind: str, action: ReprioritiseTraining) -> str:
    return sentence(
        "The priority of {training} cannot change, as it is of kind {kind} and no queue orders it: `training stop "
        "{typed}`, and launch it again with `--priority-class {priority}`.",
        training=training.shown,
        kind=kind,
        typed=training.typed,
        priority=action.priority_class,
    )
