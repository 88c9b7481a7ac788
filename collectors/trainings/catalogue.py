"""The kinds of training. To add a kind, add a file and a line here."""

from collections.abc import Iterator

from collectors.cluster.inventory import Inventory
from collectors.trainings import job
from collectors.trainings.training import Training, TrainingKind

KINDS: tuple[TrainingKind, ...] = (job.KIND,)


def read_trainings(inventory: Inventory) -> tuple[Training, ...]:
    """Return all trainings of a cluster, sorted by id. A kind that cannot be seen has none; see `unseen_kinds`."""
    return tuple(sorted(each_training(inventory), key=lambda training: training.id))


def each_training(inventory: Inventory) -> Iterator[Training]:
    """Yield the trainings one by one. What is read is kept in the inventory's memo."""
    for kind in KINDS:
        yield from kind.read(inventory)


def unseen_kinds(inventory: Inventory) -> dict[str, str]:
    """Return the kinds of training that cannot be seen now, with the reason."""
    return {
        kind.name: reason
        for kind in KINDS
        for need in kind.needs
        if (reason := inventory.missing_reason(need))
    }
