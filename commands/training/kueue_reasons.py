"""Reasons why Kueue does not start a training: its queues, its quota, those that are ended for it. Pure."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from collectors.cluster.inventory import Inventory
from collectors.cluster.kueue_workloads import KueueWorkload
from collectors.facts.sentences import as_code, sentence
from collectors.trainings.kueue_waits import kueue_reason
from collectors.trainings.training import Training
from collectors.trainings.wait_reasons import WaitKind, WaitReason
from commands.training.controller_pods import KUEUE_PODS, controller_trouble
from commands.training.kueue_preemption import ended_for, ending_text, taken_text
from commands.training.kueue_quota import in_plain_words
from commands.training.queue_line import workload_of_training
from commands.training.queue_objects import QueueObjects, Tree, stop_policy

_BY_QUOTA = (WaitKind.QUOTA, WaitKind.TOO_LARGE)
_WAITS_FOR_QUOTA = (WaitKind.QUOTA, WaitKind.PREEMPTING, WaitKind.TURN, WaitKind.UNKNOWN)


def kueue_reasons(
    training: Training,
    trainings: Sequence[Training],
    inventory: Inventory,
    objects: QueueObjects,
    now: datetime,
) -> Iterator[WaitReason]:
    """Yield why it waits, what has to be fixed first; nothing once Kueue has admitted it."""
    workload = workload_of_training(training, inventory)
    if workload is not None and kueue_reason(workload, now) is None:
        return
    yield from _of_queues(training, objects)
    if workload is None:
        yield WaitReason(
            kind=WaitKind.CONTROLLER,
            text=sentence("Kueue has not taken it up: there is no Workload of it"),
        )
    if (workload is None or not workload.status.conditions) and (
        trouble := controller_trouble(KUEUE_PODS, inventory)
    ):
        yield WaitReason(kind=WaitKind.CONTROLLER, text=trouble)
    if workload is None:
        return
    if (reason := kueue_reason(workload, now)) is not None:
        others = ended_for(workload, trainings, inventory) if reason.kind in _WAITS_FOR_QUOTA else ()
        if others:
            yield WaitReason(kind=WaitKind.PREEMPTING, text=ending_text(others))
        yield from _of_quota(workload, reason, objects)
        yield reason
        if reason.kind is WaitKind.TURN and _is_strict(objects.queue):
            text = sentence(
                "queue `{queue}` is strict: what is before it starts first, even where that does not fit yet",
                queue=objects.queue_name,
            )
            yield WaitReason(kind=WaitKind.TURN, text=text)
        if taken := taken_text(workload, trainings, inventory):
            yield WaitReason(kind=WaitKind.REQUEUED, text=taken)


def _of_quota(workload: KueueWorkload, reason: WaitReason, objects: QueueObjects) -> Iterator[WaitReason]:
    message = next(
        (one.message for one in workload.status.conditions or () if one.type == "QuotaReserved"), ""
    )
    if reason.kind in _BY_QUOTA and (
        text := in_plain_words(reason, message, objects.queue_name, objects.queue, objects.reserved)
    ):
        yield WaitReason(kind=reason.kind, resource=reason.resource, text=text)


def _of_queues(training: Training, objects: QueueObjects) -> Iterator[WaitReason]:
    own = f"{training.namespace}/{training.queue}"
    if not objects.unseen:
        if own not in objects.local_queues:
            yield WaitReason(kind=WaitKind.QUEUE_MISSING, text=_no_local_queue(training, objects))
        elif objects.queue is None:
            yield WaitReason(
                kind=WaitKind.QUEUE_MISSING,
                text=sentence("there is no ClusterQueue `{queue}`", queue=objects.queue_name),
            )
    if (words := _not_active(objects.queue)) and not stop_policy(objects.queue or {"spec": {}}):
        yield WaitReason(
            kind=WaitKind.QUEUE_STOPPED,
            text=sentence(
                "queue `{queue}` of Kueue is not active: {words}", queue=objects.queue_name, words=words
            ),
        )
    if policy := objects.stopped.get(own) or (stop_policy(objects.queue) if objects.queue else ""):
        yield WaitReason(
            kind=WaitKind.QUEUE_STOPPED,
            text=sentence(
                "queue `{queue}` of Kueue is stopped ({policy}): it admits nothing",
                queue=objects.queue_name,
                policy=policy,
            ),
        )


def _is_strict(queue: Tree | None) -> bool:
    return ((queue or {}).get("spec") or {}).get("queueingStrategy") == "StrictFIFO"


def _not_active(queue: Tree | None) -> str:
    """Return why a ClusterQueue admits nothing, such as a flavor that does not exist; empty while it is active."""
    for one in ((queue or {}).get("status") or {}).get("conditions") or ():
        if one.get("type") == "Active" and one.get("status") == "False":
            return str(one.get("message") or one.get("reason") or "-")
    return ""


def _no_local_queue(training: Training, objects: QueueObjects) -> str:
    there = sorted(
        name
        for namespace, _, name in (key.partition("/") for key in objects.local_queues)
        if namespace == training.namespace
    )
    if not there:
        return sentence(
            "namespace {namespace} has no LocalQueue `{queue}`, and no other one",
            namespace=training.namespace,
            queue=training.queue,
        )
    return sentence(
        "namespace {namespace} has no LocalQueue `{queue}`: there is {queues}",
        namespace=training.namespace,
        queue=training.queue,
        queues=as_code(there),
    )
