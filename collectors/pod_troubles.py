"""Reasons why a pod does not run, and how it ended, as its status and its events say."""

import re
from collections.abc import Iterator
from datetime import datetime

from collectors.cluster.conditions import is_node_ready
from collectors.cluster.indexes import by_involved_object
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import EVENTS
from collectors.cluster.objects import Event, Pod
from collectors.cluster.pods import ContainerStateTerminated, ContainerStatus
from collectors.facts.sentences import listed, sentence
from collectors.trainings.exit_codes import explain_exit
from collectors.trainings.scheduler_words import explain_unschedulable

# Reasons for which a kubelet lets a container wait that is about to start.
STARTING = re.compile(r"|ContainerCreating|PodInitializing")
# Reasons of events.
_SAYS_WHY = re.compile(r"Failed.*|Unhealthy|NetworkNotReady|InspectFailed|ErrImageNeverPull")
_CRASH = "CrashLoopBackOff"


def why_not_running(pod: Pod, inventory: Inventory) -> str:
    """Return why a pod does not do its work now; empty for one that is well. Its texts are not redacted."""
    if pod.status.phase in ("Succeeded", "Failed"):
        return _how_it_ended(pod)
    lost = _lost_node(pod, inventory)
    if (since := pod.metadata.deletion_timestamp) is not None:
        if not lost:
            return sentence("it has been terminating since {since}", since=since)
        return sentence("it has been terminating since {since}, and {lost}", since=since, lost=lost)
    if not pod.spec.node_name:
        return _not_scheduled(pod)
    if lost:
        return lost
    said = [*_waits(pod), *_events(pod, inventory)] if not _is_well(pod) else []
    return listed(dict.fromkeys(said), ";") or ("" if _is_well(pod) else _not_ready(pod))


def statuses_of(pod: Pod) -> tuple[ContainerStatus, ...]:
    return (*(pod.status.init_container_statuses or ()), *(pod.status.container_statuses or ()))


def ends_of(pod: Pod) -> Iterator[tuple[ContainerStatus, ContainerStateTerminated]]:
    """Yield the ends of the pod's containers, of this run and of the one before."""
    for one in statuses_of(pod):
        for end in (one.last_state.terminated, one.state.terminated):
            if end is not None:
                yield one, end


def last_end(pod: Pod) -> ContainerStateTerminated | None:
    """Return the last end of a container that has a reason or an exit code."""
    ends = (end for _, end in ends_of(pod) if end.exit_code or end.reason)
    return max(ends, key=lambda end: str(end.finished_at), default=None)


def end_text(end: ContainerStateTerminated) -> str:
    """Return a text like `OOMKilled with 137: it used more memory than its limit and was killed`."""
    return sentence(
        "{reason} with {exit_code}: {explained}",
        reason=end.reason or sentence("it ended"),
        exit_code=end.exit_code,
        explained=explain_exit(end.exit_code, end.reason),
    )


def waiting_texts(pod: Pod) -> list[str]:
    """Return why its containers wait that are not just starting."""
    found: list[str] = []
    for one in statuses_of(pod):
        waiting = one.state.waiting
        if waiting is not None and not STARTING.fullmatch(waiting.reason):
            explained = waiting.message or explain_exit(None, waiting.reason)
            found.append(listed(filter(None, (waiting.reason, explained)), ":"))
    return found


def last_event(pod: Pod, inventory: Inventory) -> Event | None:
    """Return the last of the pod's events that say why it does not run."""
    events = [
        event
        for event in events_of(pod, inventory)
        if event.last_seen is not None
        and _SAYS_WHY.fullmatch(event.reason)
        and not event.message.startswith("Error: ")
    ]
    return max(events, key=lambda event: (event.last_seen, event.metadata.name), default=None)


def events_of(pod: Pod, inventory: Inventory) -> tuple[Event, ...]:
    """Return all events of the pod that are there."""
    meta = pod.metadata
    return inventory.select(EVENTS, by_involved_object, f"{meta.namespace}/Pod/{meta.name}")


def ended_at(pod: Pod) -> datetime | None:
    """Return when its last container or its last condition changed; without either, when it was created."""
    moments = [one.last_transition_time for one in pod.status.conditions or ()]
    moments += [
        one.state.terminated.finished_at
        for one in pod.status.container_statuses or ()
        if one.state.terminated
    ]
    known = [moment for moment in moments if moment is not None]
    return max(known) if known else pod.metadata.creation_timestamp


def _how_it_ended(pod: Pod) -> str:
    status = pod.status
    if status.phase == "Succeeded":
        return sentence("it has finished")
    if status.reason:
        explained = status.message or explain_exit(None, status.reason)
        return listed(filter(None, (status.reason, explained)), ":")
    end = last_end(pod)
    return end_text(end) if end is not None else sentence("it failed")


def _lost_node(pod: Pod, inventory: Inventory) -> str:
    """Return that nothing is known of the pod, as its node does not report; empty while it does."""
    if not pod.spec.node_name:
        return ""
    node = inventory.nodes.get(pod.spec.node_name)
    if node is None:
        return sentence("its node {node} is not in the cluster", node=pod.spec.node_name)
    if is_node_ready(node) is True:
        return ""
    return sentence("its node {node} is not ready", node=pod.spec.node_name)


def _not_scheduled(pod: Pod) -> str:
    for one in pod.status.conditions or ():
        if one.type == "PodScheduled" and one.status == "False":
            explained = explain_unschedulable(one.message) if one.message else ""
            return listed(filter(None, (one.reason, explained)), ":")
    return sentence("no scheduler has looked at it yet")


def _waits(pod: Pod) -> list[str]:
    said = waiting_texts(pod)
    crashes = any(one.state.waiting and one.state.waiting.reason == _CRASH for one in statuses_of(pod))
    if crashes and (end := last_end(pod)) is not None:
        said.append(end_text(end))
    return said


def _events(pod: Pod, inventory: Inventory) -> list[str]:
    last = last_event(pod, inventory)
    return [f"{last.reason}: {last.message}"] if last is not None else []


def _is_well(pod: Pod) -> bool:
    return any(one.type == "Ready" and one.status == "True" for one in pod.status.conditions or ())


def _not_ready(pod: Pod) -> str:
    if pod.status.phase == "Running":
        found = next((one for one in pod.status.conditions or () if one.type == "Ready"), None)
        if found is None:
            return ""
        said = listed(filter(None, (found.reason, found.message)), ":")
        return (
            sentence("it runs and is not ready ({said})", said=said)
            if said
            else sentence("it runs and is not ready")
        )
    return sentence("it is starting")
