"""Notes before a training is changed: what its API makes of it, and what another tool will do. Pure."""

from collectors.cluster.inventory import Inventory
from collectors.trainings.other_tools import what_it_does
from collectors.trainings.training import Training
from commands.training.training_kinds import KINDS
from commands.training.workload_steps import tops_of


def notes_before(verb: str, training: Training, inventory: Inventory) -> tuple[str, ...]:
    """Return the notes for a plan of this verb: `stop`, `suspend`, `resume`, `retry`, `scale`, `reprioritise`."""
    notes: list[str] = [what_it_does(training.tool)] if training.tool else []
    for _, found in tops_of(training, inventory):
        kind = KINDS.get(found.kind_in_keys())
        if kind is not None and (said := kind.said_before(verb, found)) and said not in notes:
            notes.append(said)
    return tuple(notes)
