"""Trainings by full or short name, and whether a namespace is ours."""

from collections.abc import Sequence

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import NAMESPACES
from collectors.trainings.training import Training
from commands.core.lookups import ambiguous, known_name
from commands.training.manifests import MANAGED_BY, OURS, TRAINING_LABEL


def training_named(name: str, trainings: Sequence[Training]) -> Training:
    """Return the training by `namespace/name`, by its name or namespace alone if only one matches, or by its key.

    A key may be in upper or lower case. Raises UnusableError that says what to type for each match, or the closest
    names.
    """
    key = name.partition("/")[2] if name.count("/") == 3 else name  # with its cluster
    for training in trainings:
        if training.id.lower() == key.lower():
            return training
    matches = (
        [training for training in trainings if name == training.shown]
        or [training for training in trainings if name == training.name]
        or [training for training in trainings if name == training.namespace]
    )
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise ambiguous(name, (training.typed for training in matches))
    names = {word: one for one in trainings for word in (one.name, one.shown)}
    return names[known_name(name, list(names), "training")]


def is_our_namespace(training: Training, inventory: Inventory) -> bool:
    """Whether we created its namespace for this training alone, so that all of it may be deleted."""
    found = inventory.all(NAMESPACES).get(training.namespace)
    labels = (found.metadata.labels or {}) if found else {}
    return (
        training.has_namespace
        and labels.get(MANAGED_BY) == OURS
        and labels.get(TRAINING_LABEL) == training.name
    )
