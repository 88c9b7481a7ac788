"""The events of a training: of its pods, and of the objects above them."""

from collectors.cluster.indexes import by_involved_object, by_namespace
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import EVENTS
from collectors.cluster.objects import Event
from collectors.trainings.training import Training


def events_about(training: Training, inventory: Inventory) -> list[Event]:
    """Return all that are there, in no order."""
    pods = {rank.pod for rank in (*training.ranks, *training.failures)}
    tops = {*training.workloads, *training.owned}
    return [
        event
        for event in inventory.select(EVENTS, by_namespace, training.namespace)
        if training.has_namespace
        or event.involved_object.name in pods
        or not tops.isdisjoint(by_involved_object(event))
    ]
