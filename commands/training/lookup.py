"""This file finds the training that is meant by a short name, and says whether its namespace is ours."""

from collections.abc import Sequence

from collectors.cluster.inventory import Inventory
from collectors.trainings.training import Training
from commands.core.command import UnusableError
from commands.core.lookups import known_name
from commands.training.manifests import MANAGED_BY, OURS, TRAINING


def training_named(name: str, trainings: Sequence[Training]) -> Training:
    """By `namespace/name`, or by the name or the namespace alone where only one is called so.

    Raises UnusableError that lists who is called so, or says what was meant.
    """
    by_id = {training.id: training for training in trainings}
    if name in by_id:
        return by_id[name]
    called = [training for training in trainings if name == training.name] or [
        training for training in trainings if name == training.namespace
    ]
    if len(called) == 1:
        return called[0]
    if called:
        ids = ", ".join(f"`{training.id}`" for training in called[:8])
        raise UnusableError(f"`{name}` could be {ids}: write the whole name.")
    return by_id[known_name(name, [*by_id, *(training.name for training in trainings)], "training")]


def is_our_namespace(training: Training, inventory: Inventory) -> bool:
    """Whether we made its namespace, for this training alone: then all of it may go."""
    found = inventory.namespaces.get(training.namespace)
    labels = (found.metadata.labels or {}) if found else {}
    return training.has_namespace and labels.get(MANAGED_BY) == OURS and labels.get(TRAINING) == training.name
