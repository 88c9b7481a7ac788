"""This file lists the kinds of training that are read. A new kind is one file and one line here."""

from collectors.cluster.inventory import Inventory
from collectors.trainings import job
from collectors.trainings.views import TrainingKind, TrainingView

KINDS: tuple[TrainingKind, ...] = (job.KIND,)


def read_trainings(inventory: Inventory) -> tuple[TrainingView, ...]:
    """All trainings of a cluster, by id. A kind whose objects cannot be seen has none; see `unseen_kinds`."""
    found = (view for kind in KINDS for view in kind.read(inventory))
    return tuple(sorted(found, key=lambda view: view.id))


def unseen_kinds(inventory: Inventory) -> dict[str, str]:
    """The kinds of training that cannot be read now, and why."""
    return {
        kind.name: inventory.missing[need]
        for kind in KINDS
        for need in kind.needs
        if need in inventory.missing
    }
