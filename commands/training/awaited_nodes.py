"""Steps of others that a pod without a node waits for: preempted pods that end, nodes that are added. Pure."""

from collections.abc import Iterator, Sequence

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Pod
from collectors.facts.sentences import listed, sentence
from collectors.pod_troubles import events_of
from collectors.trainings.training import Training
from collectors.trainings.wait_reasons import WaitKind, WaitReason
from commands.training.start_time import StartTime

# Reasons of the cluster autoscaler's events, and of Karpenter's.
_ADDS = ("TriggeredScaleUp", "Nominated")
_ADDS_NONE = ("NotTriggerScaleUp", "FailedScaleUp")


def ended_on_nodes(training: Training, inventory: Inventory) -> tuple[Pod, ...]:
    """Return the pods that are ended on the nodes that the scheduler has chosen for its pods, by preemption."""
    nodes = {
        pod.status.nominated_node_name
        for rank in training.ranks
        if (pod := inventory.pods.get(f"{training.namespace}/{rank.pod}")) is not None
        and not pod.spec.node_name
        and pod.status.nominated_node_name
    }
    return tuple(
        pod
        for node in sorted(nodes)
        for pod in inventory.pods_on(node)
        if pod.metadata.deletion_timestamp is not None and pod.status.phase in ("Running", "Pending")
    )


def awaited(training: Training, inventory: Inventory) -> Iterator[WaitReason]:
    """Yield that pods are ended for it on the nodes that the scheduler has chosen."""
    if pods := ended_on_nodes(training, inventory):
        text = sentence(
            "{pods} on {nodes} are ended for it: it starts when they are gone",
            pods=listed((one.key for one in pods), "and", most=4),
            nodes=listed(dict.fromkeys(one.spec.node_name for one in pods), "and", most=4),
        )
        yield WaitReason(kind=WaitKind.PREEMPTING, text=text)


def autoscaling(unplaced: Sequence[Pod], inventory: Inventory) -> Iterator[WaitReason]:
    """Yield the newest word of an autoscaler about one of the pods."""
    events = [
        event
        for pod in unplaced
        for event in events_of(pod, inventory)
        if event.reason in (*_ADDS, *_ADDS_NONE)
    ]
    last = max(events, key=lambda event: str(event.last_seen), default=None)
    if last is None:
        return
    if last.reason in _ADDS:
        text = sentence("nodes are being added for it: {words}", words=last.message)
    else:
        text = sentence("no node is added for it: {words}", words=last.message)
    yield WaitReason(kind=WaitKind.NODES, text=text)


def when_pods_are_gone(pods: Sequence[Pod]) -> StartTime:
    """Return when the last of them is gone: Kubernetes ends a pod at its deletion timestamp at the latest."""
    ends = [one.metadata.deletion_timestamp for one in pods if one.metadata.deletion_timestamp is not None]
    names = listed((one.key for one in pods), "and", most=4)
    return StartTime(
        at=max(ends), is_bound=True, basis=sentence("the grace period of {pods} ends", pods=names)
    )
