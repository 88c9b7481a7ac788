"""Trainings that Kueue manages: whether it holds them back, and why. Pure.

Kueue suspends and resumes the object itself, so a suspended one waits for its turn. It is suspended by a person only
if its Workload is not active.
"""

from collections.abc import Iterable
from dataclasses import replace

from collectors.cluster.base import ObjectMeta
from collectors.cluster.conditions import condition_text
from collectors.cluster.kueue_workloads import KueueWorkload
from collectors.facts.sentences import listed, sentence
from collectors.trainings.reading_kind import TrainingPart

QUEUE_NAME = "kueue.x-k8s.io/queue-name"  # the label of what Kueue manages, with the LocalQueue
PRIORITY_CLASS = "kueue.x-k8s.io/priority-class"  # the label with the WorkloadPriorityClass
_FALSE = ("QuotaReserved", "Admitted")  # what is awaited, in this order


def queue_of(meta: ObjectMeta) -> str:
    """Return the LocalQueue of an object; empty if Kueue does not manage it."""
    return (meta.labels or {}).get(QUEUE_NAME, "")


def in_its_queue(part: TrainingPart, workloads: Iterable[KueueWorkload]) -> TrainingPart:
    """Return the part as Kueue's Workloads of it say that it is. A part that Kueue does not manage is as it was."""
    queue = queue_of(part.meta)
    if not queue:
        return part
    found = tuple(workloads)
    limits = [part.limit, *(one.spec.maximum_execution_time_seconds for one in found)]
    limit = min(filter(None, limits), default=None)
    part = replace(part, queue=queue, limit=limit, is_in_kueue=True)
    if part.ended is not None:
        return part
    if any(not one.spec.active for one in found):
        return replace(part, is_suspended=True, waits=sentence("its Workload in Kueue is not active"))
    if not part.is_suspended:
        return part
    waits = next(filter(None, map(_waits, found)), "") or (
        sentence("it waits in queue {queue} of Kueue", queue=queue)
        if found
        else sentence("Kueue has not picked it up yet in queue {queue}", queue=queue)
    )
    return replace(part, is_suspended=False, waits=waits)


def _waits(workload: KueueWorkload) -> str:
    """Return what it waits for, in Kueue's words."""
    for type_ in _FALSE:
        for condition in workload.status.conditions or ():
            if condition.type == type_ and condition.status == "False":
                words = condition_text(condition)
                return listed(
                    [sentence("it waits in queue {queue} of Kueue", queue=workload.spec.queue_name), words],
                    ":",
                )
    return ""
