"""Reasons why a gang waits, from its PodGroup: Volcano's, that of coscheduling, or Kubernetes' own. Pure.

Sources: Volcano 1.15 (`scheduling.volcano.sh/v1beta1`), scheduler-plugins 0.34, Kubernetes 1.37.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from collectors.cluster.indexes import by_namespace
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import EVENTS
from collectors.cluster.resources import gpu_resource, parse_quantity
from collectors.facts.sentences import listed, sentence
from collectors.trainings.training import Training
from collectors.trainings.wait_reasons import WaitKind, WaitReason
from commands.training.native_gangs import native_reasons
from commands.training.queue_objects import NATIVE_APIS, QueueObjects, Tree, queue_of_group
from commands.training.queues import VOLCANO_API

_SCHEDULED = (
    "PodGroupInitiallyScheduled",
    "PodGroupScheduled",
)  # conditions of Kubernetes' own, 1.37 and 1.36
_GANG = re.compile(r"(?P<lacking>\d+)/(?P<tasks>\d+) tasks? in gang unschedulable")
_SCHEDULABLE = re.compile(r"(?P<count>\d+) Schedulable")
_SAID = (
    (re.compile(r"(?i)queue resource quota insufficient|exceeds? .*capability"), WaitKind.QUOTA),
    (re.compile(r"(?i)overused"), WaitKind.OVERUSED),
    (re.compile(r"(?i)queue .*(?:closed|not open)"), WaitKind.QUEUE_STOPPED),
    (re.compile(r"(?i)queue .*not (?:found|exist)"), WaitKind.QUEUE_MISSING),
)


def gang_reasons(training: Training, inventory: Inventory, objects: QueueObjects) -> Iterator[WaitReason]:
    """Yield why its PodGroup waits, what has to be fixed first. Nothing for a training without one."""
    group = objects.group
    if group is None:
        return
    is_volcano = group["apiVersion"] == VOLCANO_API
    if is_volcano:
        yield from _queue_reasons(objects)
    elif str(group["apiVersion"]) in NATIVE_APIS:
        yield from native_reasons(training, inventory, group)
    said = [*_events(group, inventory), *_conditions(group)]
    is_full = is_volcano and _is_full(objects)
    if is_full:  # whatever else Volcano says: it names only the first of its plugins that refuses
        yield WaitReason(kind=WaitKind.QUOTA, text=_said(WaitKind.QUOTA, "", objects))
    for words in said:
        if kind := next((kind for pattern, kind in _SAID if pattern.search(words)), None):
            if not is_full or kind is not WaitKind.QUOTA:
                yield WaitReason(kind=kind, text=_said(kind, words, objects))
            yield from _without_pods(training, group)
            return
    if is_full:
        yield from _without_pods(training, group)
        return
    for words in said:
        if (reason := _gang(words, training)) is not None:
            yield reason
            return


def _without_pods(training: Training, group: Tree) -> Iterator[WaitReason]:
    """Yield that it has none because of its queue: a reader would take that for a fault of its controller."""
    if not training.ranks and str((group.get("status") or {}).get("phase") or "Pending") == "Pending":
        yield WaitReason(
            kind=WaitKind.QUOTA,
            text=sentence("Volcano creates its pods once its queue lets it in, so there are no pods yet"),
        )


def _queue_reasons(objects: QueueObjects) -> Iterator[WaitReason]:
    name = objects.queue_name
    if objects.queue is None:
        if not objects.unseen:
            yield WaitReason(
                kind=WaitKind.QUEUE_MISSING,
                text=sentence("there is no queue `{queue}` in Volcano", queue=name),
            )
        return
    state = str((objects.queue.get("status") or {}).get("state") or "Open")
    if state != "Open":
        yield WaitReason(
            kind=WaitKind.QUEUE_STOPPED,
            text=sentence(
                "queue `{queue}` of Volcano is {state}: it lets nothing in", queue=name, state=state
            ),
        )


def _said(kind: WaitKind, words: str, objects: QueueObjects) -> str:
    if kind is WaitKind.QUOTA:
        capability = ((objects.queue or {}).get("spec") or {}).get("capability") or {}
        allocated = ((objects.queue or {}).get("status") or {}).get("allocated") or {}
        resource = next((name for name in capability if gpu_resource(name)), "")
        if resource:
            wanted = (((objects.group or {}).get("spec") or {}).get("minResources") or {}).get(resource)
            kept = listed(_kept(objects, resource), ",")
            said = sentence(
                "queue `{queue}` of Volcano may have {size} {resource}, and {used} are in use",
                queue=objects.queue_name,
                size=str(capability[resource]),
                resource=resource,
                used=str(allocated.get(resource) or 0),
            )
            asks = sentence("it asks for {wanted}", wanted=str(wanted)) if wanted else ""
            return listed(filter(None, (said, kept, asks)), ";")
    return sentence("Volcano says of queue `{queue}`: {words}", queue=objects.queue_name, words=words)


def _kept(objects: QueueObjects, resource: str) -> Iterator[str]:
    """Yield what is kept for gangs that Volcano has let in, and that have not all of their resources yet."""
    for one in objects.groups:
        if one is objects.group or queue_of_group(one) != objects.queue_name:
            continue
        amount = _amount((one.get("spec") or {}).get("minResources") or {}, resource)
        if amount and (one.get("status") or {}).get("phase") == "Inqueue":
            meta = one["metadata"]
            owner = next((each["name"] for each in meta.get("ownerReferences") or ()), meta["name"])
            yield sentence(
                "{amount:g} are kept for {gang}", amount=amount, gang=f"{meta.get('namespace')}/{owner}"
            )


def _is_full(objects: QueueObjects) -> bool:
    """Whether the gang does not fit into what its queue may have."""
    group = objects.group or {}
    if str((group.get("status") or {}).get("phase") or "Pending") != "Pending":
        return False
    needed = (group.get("spec") or {}).get("minResources") or {}
    capability = ((objects.queue or {}).get("spec") or {}).get("capability") or {}
    allocated = ((objects.queue or {}).get("status") or {}).get("allocated") or {}
    kept = sum(
        _amount((one.get("spec") or {}).get("minResources") or {}, name)
        for one in objects.groups
        for name in needed
        if gpu_resource(name)
        and one is not group
        and queue_of_group(one) == objects.queue_name
        and (one.get("status") or {}).get("phase") == "Inqueue"
    )
    return any(
        name in capability
        and _amount(allocated, name) + kept + _amount(needed, name) > _amount(capability, name)
        for name in needed
        if gpu_resource(name)
    )


def _amount(resources: Mapping[str, Any], name: str) -> float:
    return parse_quantity(resources.get(name) or 0)


def _gang(words: str, training: Training) -> WaitReason | None:
    """Return that some of the gang have room and others have not; None where it is not about a part of it."""
    found = _GANG.search(words)
    if found is None or not int(found["tasks"]):
        return None
    tasks, lacking = int(found["tasks"]), int(found["lacking"])
    fitting = int(some["count"]) if (some := _SCHEDULABLE.search(words)) else max(0, tasks - lacking)
    if not 0 < fitting < max(tasks, training.wanted):
        return None
    return WaitReason(
        kind=WaitKind.GANG,
        text=sentence(
            "its tasks start together, and {fitting} of {tasks} have room", fitting=fitting, tasks=tasks
        ),
    )


def _conditions(group: Tree) -> Iterator[str]:
    for one in (group.get("status") or {}).get("conditions") or ():
        is_waiting = one.get("type") == "Unschedulable" and one.get("status") == "True"
        if is_waiting or (one.get("type") in _SCHEDULED and one.get("status") == "False"):
            yield str(one.get("message") or one.get("reason") or "")


def _events(group: Tree, inventory: Inventory) -> list[str]:
    """Return the messages of the PodGroup's events, the last first; one of the queue before one of the gang."""
    meta = group["metadata"]
    found = [
        event
        for event in inventory.select(EVENTS, by_namespace, str(meta.get("namespace") or ""))
        if event.involved_object.kind == "PodGroup"
        and event.involved_object.name == meta["name"]
        and event.reason not in ("Scheduled",)
    ]
    ordered = sorted(found, key=lambda event: str(event.last_seen), reverse=True)
    return [event.message for event in ordered]
