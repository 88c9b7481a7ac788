"""The inventory: the cluster cache at one moment, with common lookups. Pure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from types import MappingProxyType
from typing import Any, TypeVar

from collectors.cluster import kinds
from collectors.cluster.base import KubernetesObject, OwnerReference
from collectors.cluster.cache import ClusterCache
from collectors.cluster.gpu_claims import NO_CLAIMS, GpuClaims, gpu_devices
from collectors.cluster.indexes import (
    Keys,
    by_leader,
    by_namespace,
    by_node,
    by_node_of_slice,
    by_owner,
    by_owner_of_pod,
    by_waiting,
    deployment_of,
    owner_of,
    workload_name,
    workload_of,
)
from collectors.cluster.kinds import (
    DAEMONSETS,
    NODES,
    PODS,
    RESOURCE_CLAIM_TEMPLATES,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
    STATEFULSETS,
    ResourceKind,
    owner_kinds,
)
from collectors.cluster.memo import Memo
from collectors.cluster.object_store import Snapshot
from collectors.cluster.objects import Node, Pod
from collectors.cluster.resources import NodeGpus, holds_resources, node_gpus, nvidia_gpus
from collectors.facts.results import Blind
from collectors.facts.workload_keys import parse_workload

T = TypeVar("T", bound=KubernetesObject)

_NONE: Mapping[str, Any] = MappingProxyType({})  # one object, so that what is derived from it is kept
_DEEPEST = 8  # owners above a pod; a cycle of references ends here
_OTHER_TOPS = {kind.kind_in_keys: kind for kind in (PODS, DAEMONSETS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """One cluster at one moment. Keys are `namespace/name`, or the name for nodes and namespaces.

    `missing` gives the kinds that cannot be seen, with the reason: their empty mappings mean unknown, not none.
    """

    as_of: datetime  # of the oldest snapshot in it
    snapshots: Mapping[str, Snapshot[Any]]  # by the kind's name
    missing: Mapping[str, str] = field(default_factory=dict)
    memo: Memo = field(default_factory=Memo)  # what others derive from it
    owners: Mapping[str, ResourceKind[Any]] = field(default_factory=owner_kinds)

    @property
    def nodes(self) -> Mapping[str, Node]:
        return self.all(NODES)

    @property
    def pods(self) -> Mapping[str, Pod]:
        return self.all(PODS)

    def all(self, kind: ResourceKind[T]) -> Mapping[str, T]:
        """Return the objects of a kind by key; empty when it cannot be seen."""
        snapshot = self.snapshots.get(kind.name)
        return snapshot.objects if snapshot is not None else _NONE

    def select(self, kind: ResourceKind[T], index: Callable[[T], Keys], key: str) -> tuple[T, ...]:
        """Return the objects with this key in one of the kind's indexes."""
        snapshot = self.snapshots.get(kind.name)
        return snapshot.indexes[index].get(key, ()) if snapshot is not None else ()

    def grouped(self, kind: ResourceKind[T], index: Callable[[T], Keys]) -> Mapping[str, tuple[T, ...]]:
        """Return all objects with a key in one of the kind's indexes, by key."""
        snapshot = self.snapshots.get(kind.name)
        return snapshot.indexes[index] if snapshot is not None else _NONE

    def missing_reason(self, kind: ResourceKind[Any]) -> str:
        """Return why the objects of this kind cannot be seen; empty when they can."""
        return self.missing.get(kind.name, "")

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        """Return the pods that are bound to a node, including finished ones."""
        return tuple(pod for pod in self.select(PODS, by_node, node) if pod.spec.node_name)

    def pods_nominated_for(self, node: str) -> tuple[Pod, ...]:
        """Return the pods for which preemption made room on a node, and that are not bound yet."""
        return tuple(pod for pod in self.select(PODS, by_node, node) if not pod.spec.node_name)

    def pods_waiting(self) -> Iterator[Pod]:
        """Iterate over the pods that are not bound to a node."""
        snapshot = self.snapshots.get(PODS.name)
        return (
            chain.from_iterable(snapshot.indexes[by_waiting].values()) if snapshot is not None else iter(())
        )

    def pods_of(self, workload: str) -> tuple[Pod, ...]:
        """Return the pods that a controller owns, by its key: directly or through others that it owns."""
        found = self.select(PODS, by_owner_of_pod, workload)
        owners = [workload]
        led = self._led_by_pods(parse_workload(workload).namespace)
        for owner in owners:  # it grows
            for kind in self.owners.values():
                owned = (workload_of(one) for one in self.select(kind, by_owner, owner))
                owners += [name for name in owned if name not in owners]
            for pod in self.select(PODS, by_owner_of_pod, owner) if led else ():
                owners += [name for name in led.get(workload_of(pod), ()) if name not in owners]
        if len(owners) == 1:
            return found
        more = (pod for owner in owners for pod in self.select(PODS, by_owner_of_pod, owner))
        return tuple({pod.key: pod for pod in more}.values())

    def workload_of(self, pod: Pod) -> str:
        """Return the key of the top controller of a pod; empty for a bare or a static pod."""
        owner = owner_of(pod)
        if owner is None or owner.kind == "Node":
            return ""
        namespace = pod.metadata.namespace
        for _ in range(_DEEPEST):
            above = self._above(namespace, owner, pod)
            if above is None:
                break
            owner = above
        return workload_name(namespace, owner)

    def top_of(self, workload: str) -> KubernetesObject | None:
        """Return the object of a workload by its key; None for one that is not cached."""
        key = parse_workload(workload)
        found = self.owners.get(key.kind) or _OTHER_TOPS.get(key.kind)
        return self.all(found).get(key.object_key) if found is not None else None

    def gpus_on(self, node: str) -> NodeGpus | None:
        """Return the GPUs of a node and how many are held; None for an unknown node."""
        found = self.nodes.get(node)
        if found is None:
            return None
        here = self.select(PODS, by_node, node)
        return self.memo.get(
            ("gpus", node),
            (found, here, self.all(RESOURCE_CLAIMS), self.select(RESOURCE_SLICES, by_node_of_slice, node)),
            lambda: self._count_gpus(found),
        )

    def gpus_of(self, pod: Pod) -> dict[str, float]:
        """Return the GPUs that a pod requests or was given, by resource name. Raises ValueError (a quantity)."""
        return self.gpu_claims(pod.metadata.namespace).of_pod(pod)

    def gpus_held(self, pod: Pod) -> float:
        """Return the GPUs that the pod holds, of any resource: none before it is bound, and none after its end."""
        return self.gpu_claims(pod.metadata.namespace).held(pod)

    def gpu_claims(self, namespace: str) -> GpuClaims:
        """Return what the claims of a namespace say about the GPUs of its pods."""
        claims = self.select(RESOURCE_CLAIMS, by_namespace, namespace)
        templates = self.select(RESOURCE_CLAIM_TEMPLATES, by_namespace, namespace)
        if not claims and not templates:
            return NO_CLAIMS
        return self.memo.get(
            ("gpu claims", namespace), (claims, templates), lambda: GpuClaims(claims, templates)
        )

    def gpu_devices_on(self, node: str) -> dict[str, tuple[int, int]]:
        """Return how many GPUs drivers of dynamic resource allocation list for a node, and how many take pods."""
        slices = self.select(RESOURCE_SLICES, by_node_of_slice, node)
        return self.memo.get(("gpu devices", node), (slices,), lambda: gpu_devices(slices))

    def nvidia_gpus_on(self, node: str) -> float:
        """Return the NVIDIA GPUs of a node, whole ones and slices, of a device plugin or else of a driver."""
        listed = self.gpu_devices_on(node).items()
        devices = sum(count for name, (count, _) in listed if name.endswith(".nvidia.com"))
        return nvidia_gpus(self.nodes[node].status.capacity or {}) or devices

    def _count_gpus(self, node: Node) -> NodeGpus:
        name = node.metadata.name
        held = [self.gpus_of(pod) for pod in self.pods_on(name) if holds_resources(pod)]
        nominated = [self.gpus_of(pod) for pod in self.pods_nominated_for(name)]
        return node_gpus(node, held, nominated, self.gpu_devices_on(name))

    def _above(self, namespace: str, owner: OwnerReference, pod: Pod) -> OwnerReference | None:
        found = self.top_of(workload_name(namespace, owner))
        return owner_of(found) if found is not None else deployment_of(pod, owner)

    def _led_by_pods(self, namespace: str) -> dict[str, list[str]]:
        """Return the workloads of a namespace that pods own, by the pod."""
        found: dict[str, list[str]] = {}
        for one in self.select(STATEFULSETS, by_leader, namespace):
            found.setdefault(by_owner(one)[0], []).append(workload_of(one))
        return found


def inventory_of(cache: ClusterCache, previous: Inventory | Blind | None = None) -> Inventory | Blind:
    """Build the inventory as of now. Without nodes or pods there is none; any other kind may be in `missing`.

    What was derived from the `previous` one is kept where nothing changed.
    """
    snapshots: dict[str, Snapshot[Any]] = {}
    missing: dict[str, str] = {}
    for kind in dict.fromkeys((*kinds.DEFAULT_KINDS, *cache.kinds)):
        if kind.name in cache.left_out:
            continue
        snapshot = cache.snapshot(kind)
        if not isinstance(snapshot, Blind):
            snapshots[kind.name] = snapshot
        elif kind in (NODES, PODS):
            return snapshot
        else:
            missing[kind.name] = snapshot.reason
    oldest = min(snapshot.at for snapshot in snapshots.values())
    memo = Memo(previous.memo if isinstance(previous, Inventory) else None)
    return Inventory(as_of=oldest, snapshots=snapshots, missing=missing, memo=memo)
