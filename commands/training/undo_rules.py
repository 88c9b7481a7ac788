"""Undo of plans that launched trainings: what is deleted with their namespaces."""

from collections.abc import Sequence

from collectors.facts.sentences import listed, sentence
from commands.core.context import CommandContext, UndoEffects, Undoing
from commands.execution.steps import Delete, Step
from commands.training.stop import (
    deleted_with_namespace,
    deletes_claims,
    disruption_of,
    lost_work,
)


async def _effects(steps: Sequence[Step], context: CommandContext) -> UndoEffects:
    """Say that namespaces are deleted, as those steps may be far down the list, and what is lost with them."""
    deleted = {step.ref.name for step in steps if isinstance(step, Delete) and step.ref.kind == "Namespace"}
    if not deleted:
        return UndoEffects()
    inventory = context.cluster.inventory()
    ended = [
        training
        for training in context.cluster.trainings()
        if training.namespace in deleted and not training.state.is_over
    ]
    notes = [await lost_work(training, context) for training in ended]
    notes += [
        listed(
            [
                sentence("Namespace {namespace} is deleted with its objects.", namespace=name),
                *deleted_with_namespace(name, inventory),
            ],
            ".",
        )
        for name in sorted(deleted)
    ]
    breaks = [deletes_claims(name) for name in sorted(deleted) if deleted_with_namespace(name, inventory)]
    return UndoEffects(notes=tuple(notes), disrupts=tuple(map(disruption_of, ended)), breaks=tuple(breaks))


UNDOING = Undoing(effects=_effects)
