"""The kinds of training that are read. To add a kind, add a file and a line here."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from collectors.cluster.inventory import Inventory
from collectors.facts.workload_keys import shown_kind
from collectors.trainings import job, jobset, mpijob, mpijobv2, pytorchjob, rayjob, tfjob, trainjob, vcjob
from collectors.trainings.composition import compose_trainings
from collectors.trainings.reading_kind import ReadingKind
from collectors.trainings.training import Training

KINDS: tuple[ReadingKind[Any], ...] = (
    job.KIND,
    jobset.KIND,
    pytorchjob.KIND,
    tfjob.KIND,
    mpijob.KIND,
    mpijobv2.KIND,
    trainjob.KIND,
    vcjob.KIND,
    rayjob.KIND,
)


def read_trainings(inventory: Inventory) -> tuple[Training, ...]:
    """Return all trainings of a cluster, sorted by name. A kind that cannot be seen has none; see `unseen_kinds`."""
    found = sorted(each_training(inventory), key=lambda training: (training.shown, training.id))
    names = Counter(training.shown for training in found)
    return tuple(
        _with_shared_name(training, inventory) if names[training.shown] > 1 else training
        for training in found
    )


def _with_shared_name(training: Training, inventory: Inventory) -> Training:
    return inventory.memo.get(
        ("shared name", training.id), (training,), lambda: replace(training, is_name_shared=True)
    )


def each_training(inventory: Inventory) -> Iterator[Training]:
    """Iterate over the trainings, in no order, one read at a time. What is read is kept in the inventory's memo."""
    return compose_trainings(KINDS, inventory)


def unseen_kinds(inventory: Inventory) -> dict[str, str]:
    """Return the kinds of training that cannot be seen now, with the reason. One that is not served is none of them."""
    return {
        shown_kind(kind.name): reason
        for kind in KINDS
        for need in kind.needs
        if (reason := inventory.missing_reason(need))
    }
