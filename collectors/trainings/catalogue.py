"""This file lists the kinds of training that are read. A new kind is one file and one line here."""

from collectors.cluster.inventory import Inventory
from collectors.trainings import job
from collectors.trainings.training import Training, TrainingKind

KINDS: tuple[TrainingKind, ...] = (job.KIND,)


def read_trainings(inventory: Inventory) -> tuple[Training, ...]:
    """All trainings of a cluster, by id. A kind whose objects cannot be seen has none; see `unseen_kinds`."""
    found = (training for kind in KINDS for training in kind.read(inventory))
    return tuple(sorted(found, key=lambda training: training.id))


def unseen_kinds(inventory: Inventory) -> dict[str, str]:
    """The kinds of training that cannot be read now, and why."""
    return {
        kind.name: inventory.missing[need]
        for kind in KINDS
        for need in kind.needs
        if need in inventory.missing
    }
