"""The kinds of training that are read. To add a kind, add a file and a line here."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import ResourceKind
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


def left_out(options: Collection[str]) -> tuple[ResourceKind[Any], ...]:
    """Return the custom kinds that nobody needs to watch if only these kinds of training are used; none: all are.

    The options are those that are typed, such as `jobset`.
    """
    used = used_kinds(options)
    return tuple(dict.fromkeys(need for kind in KINDS for need in _custom_needs(kind) if need not in used))


def used_kinds(options: Collection[str]) -> tuple[ResourceKind[Any], ...]:
    """Return the custom kinds that are watched if only these kinds of training are used; none: all are."""
    used = (kind for kind in KINDS if not options or kind.option in options)
    return tuple(dict.fromkeys(need for kind in used for need in _custom_needs(kind)))


def needs_by_option() -> dict[str, tuple[ResourceKind[Any], ...]]:
    """Return the custom kinds that are looked at for each kind of training, by its option."""
    return {kind.option: _custom_needs(kind) for kind in KINDS}


def _custom_needs(kind: ReadingKind[Any]) -> tuple[ResourceKind[Any], ...]:
    """Return the kinds that are looked at for a kind of training and that a cluster need not have."""
    return tuple(need for need in kind.watched if "." in need.group)


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
