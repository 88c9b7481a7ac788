"""Checks of what comes before a volume is formatted by mistake: private host mounts, two users, a writer that waits.

Where a container keeps what the host unmounts, an RBD image stays busy after its pod is gone, and the next writer may
find no file system on it.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.cluster.host_mounts import by_kept_mount
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, VOLUME_ATTACHMENTS
from collectors.cluster.objects import Pod
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample
from collectors.facts.sentences import listed, sentence
from collectors.facts.workload_keys import parse_workload
from collectors.volume_use import VolumeUse, volume_uses

_NO_NODE = sentence("no node yet")
_LABELS = {"DaemonSet": "daemonset", "Deployment": "deployment", "StatefulSet": "statefulset"}
_KINDS = frozenset({PERSISTENT_VOLUME_CLAIMS.name, PERSISTENT_VOLUMES.name, VOLUME_ATTACHMENTS.name})


@partial(
    ClusterCheck,
    name="private-host-mounts",
    summary="a workload mounts the host's root privately, which keeps volumes busy",
    kinds=_KINDS,
)
def private_host_mounts(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each workload that mounts the host's root privately: on how many nodes it runs.

    Without a volume that could be formatted in the cluster, nothing is at risk.
    """
    assert not isinstance(inputs.inventory, Blind)
    inventory = inputs.inventory
    if not any(use.is_formatted for use in volume_uses(inventory).values()):
        return
    nodes: dict[Labels, set[str]] = {}
    paths: dict[Labels, str] = {}
    for pod, path in _private(inventory):
        yield None
        labels = _workload_labels(pod, inventory)
        nodes.setdefault(labels, set()).add(pod.spec.node_name)
        paths[labels] = path
    for labels, on in nodes.items():
        text = sentence("hostPath {path} without HostToContainer", path=paths[labels])
        yield Sample(labels=labels, value=len(on), texts=(text,))


@partial(
    ClusterCheck,
    name="volume-used-twice",
    summary="an image is written while another node or claim uses it",
    kinds=_KINDS,
)
def used_twice(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each image with a writer and another user: how many nodes hold it, and who uses it."""
    assert not isinstance(inputs.inventory, Blind)
    for use in volume_uses(inputs.inventory).values():
        yield None
        if use.is_used_twice:
            namespace, _, name = use.writers[0].claim.partition("/")
            labels = Labels({"namespace": namespace, "persistentvolumeclaim": name})
            yield Sample(labels=labels, value=len(use.nodes), texts=(_users(use),))


@partial(
    ClusterCheck,
    name="node-in-danger",
    summary="a node meets one of the conditions under which a volume is formatted: `part` says which",
    parameters={"part": "private-mount"},
    kinds=_KINDS,
)
def node_in_danger(inputs: CheckInput, parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each node with this part of the danger; the value is the number of pods or images.

    `part`: `private-mount`, a private mount beside a volume that could be formatted; `two-nodes`, an image that is
    written on one node and held on another; `waiting-writer`, a writer that does not start.
    """
    assert not isinstance(inputs.inventory, Blind)
    uses = [use for use in volume_uses(inputs.inventory).values() if use.is_formatted]
    part = parameters["part"]
    counted: dict[str, int] = {}
    for node in _nodes_of(str(part), uses, inputs.inventory):
        yield None
        counted[node] = counted.get(node, 0) + 1
    for node, count in counted.items():
        yield Sample(labels=Labels({"node": node}), value=count)


def _nodes_of(part: str, uses: Sequence[VolumeUse], inventory: Inventory) -> Iterator[str]:
    match part:
        case "private-mount":
            # Nothing names a volume that was unmounted, so every node with such a mount counts.
            if uses:
                yield from (pod.spec.node_name for pod, _ in _private(inventory))
        case "two-nodes":
            yield from (
                node for use in uses if use.is_used_twice and len(use.nodes) > 1 for node in use.nodes
            )
        case "waiting-writer":
            writers = (user for use in uses for user in use.writers)
            yield from (user.node for user in writers if user.node and user.pod.status.phase == "Pending")
        case _:
            raise ValueError(part)


def _private(inventory: Inventory) -> Iterator[tuple[Pod, str]]:
    """Yield the running pods that keep what the host unmounts, each once, with the path that they mount."""
    for path, pods in inventory.grouped(PODS, by_kept_mount).items():
        yield from ((pod, path) for pod in pods)


def _workload_labels(pod: Pod, inventory: Inventory) -> Labels:
    namespace = pod.metadata.namespace
    _, kind, name = parse_workload(inventory.workload_of(pod) or "//")
    if kind in _LABELS:
        return Labels({"namespace": namespace, _LABELS[kind]: name})
    return Labels({"namespace": namespace, "pod": pod.metadata.name})


def _users(use: VolumeUse) -> str:
    users = [
        sentence("{user} writes on {node}", user=user.name, node=user.node or _NO_NODE)
        if user.may_write
        else sentence("{user} reads on {node}", user=user.name, node=user.node or _NO_NODE)
        for user in use.users
    ]
    held = [
        sentence("attached to {node}", node=node)
        for node in use.attached
        if node not in {user.node for user in use.users}
    ]
    return listed([*users[:6], *held[:6]])


CHECKS = (private_host_mounts, used_twice, node_in_danger)
