"""This file finds the training that is meant by a short name, and says whether its namespace is ours."""

from collections.abc import Sequence

from collectors.cluster.inventory import Inventory
from collectors.trainings.views import TrainingView
from commands.command import UnusableError
from commands.looks import known_name
from commands.trainings.manifests import MANAGED_BY, OURS, TRAINING


def training_named(name: str, trainings: Sequence[TrainingView]) -> TrainingView:
    """By `namespace/name`, or by the name or the namespace alone where only one is called so.

    Raises UnusableError that lists who is called so, or says what was meant.
    """
    by_id = {view.id: view for view in trainings}
    if name in by_id:
        return by_id[name]
    called = [view for view in trainings if name == view.name] or [
        view for view in trainings if name == view.namespace
    ]
    if len(called) == 1:
        return called[0]
    if called:
        ids = ", ".join(f"`{view.id}`" for view in called[:8])
        raise UnusableError(f"`{name}` could be {ids}: write the whole name.")
    return by_id[known_name(name, [*by_id, *(view.name for view in trainings)], "training")]


def is_our_namespace(view: TrainingView, inventory: Inventory) -> bool:
    """Whether we made its namespace, for this training alone: then all of it may go."""
    found = inventory.namespaces.get(view.namespace)
    labels = (found.metadata.labels or {}) if found else {}
    return view.has_namespace and labels.get(MANAGED_BY) == OURS and labels.get(TRAINING) == view.name
