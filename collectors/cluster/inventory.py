"""This file has the inventory: the cache at one moment, with the look-ups that everybody needs. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from collectors.cluster import kinds
from collectors.cluster.base import KubernetesObject, ObjectMeta, OwnerReference
from collectors.cluster.cache import ClusterCache
from collectors.cluster.kinds import ResourceKind
from collectors.cluster.objects import (
    DaemonSet,
    Deployment,
    Event,
    Job,
    Namespace,
    Node,
    PersistentVolumeClaim,
    Pod,
    ReplicaSet,
    Service,
    StatefulSet,
)
from collectors.cluster.resources import NodeGpus, node_gpus
from collectors.facts.results import Blind

T = TypeVar("T", bound=KubernetesObject)

_DEEPEST = 8  # owners above a pod; a ring of references ends there


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """One cluster at one moment. Keys are `namespace/name`, for nodes and namespaces the name.

    `missing` names the kinds that could not be seen, and why: what is empty there is unknown, not none.
    """

    as_of: datetime  # the oldest part's moment
    nodes: Mapping[str, Node]
    pods: Mapping[str, Pod]
    namespaces: Mapping[str, Namespace] = field(default_factory=dict)
    services: Mapping[str, Service] = field(default_factory=dict)
    events: Mapping[str, Event] = field(default_factory=dict)
    persistent_volume_claims: Mapping[str, PersistentVolumeClaim] = field(default_factory=dict)
    deployments: Mapping[str, Deployment] = field(default_factory=dict)
    replicasets: Mapping[str, ReplicaSet] = field(default_factory=dict)
    statefulsets: Mapping[str, StatefulSet] = field(default_factory=dict)
    daemonsets: Mapping[str, DaemonSet] = field(default_factory=dict)
    jobs: Mapping[str, Job] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    _on_node: Mapping[str, tuple[Pod, ...]] = field(init=False)
    _nominated: Mapping[str, tuple[Pod, ...]] = field(init=False)
    _of_workload: Mapping[str, tuple[Pod, ...]] = field(init=False)

    def __post_init__(self) -> None:
        on_node: dict[str, list[Pod]] = {}
        nominated: dict[str, list[Pod]] = {}
        of_workload: dict[str, list[Pod]] = {}
        for pod in self.pods.values():
            if pod.spec.node_name:
                on_node.setdefault(pod.spec.node_name, []).append(pod)
            elif pod.status.nominated_node_name:
                nominated.setdefault(pod.status.nominated_node_name, []).append(pod)
            of_workload.setdefault(self.workload_of(pod), []).append(pod)
        object.__setattr__(self, "_on_node", _frozen(on_node))
        object.__setattr__(self, "_nominated", _frozen(nominated))
        object.__setattr__(self, "_of_workload", _frozen(of_workload))

    def missing_reason(self, kind: ResourceKind[Any]) -> str:
        """Why the objects of this kind cannot be seen; empty when they can."""
        return self.missing.get(kind.name, "")

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        """The pods that are bound to a node, finished ones too."""
        return self._on_node.get(node, ())

    def pods_of(self, workload: str) -> tuple[Pod, ...]:
        """The pods under a top controller, `namespace/Kind/name`."""
        return self._of_workload.get(workload, ())

    def workload_of(self, pod: Pod) -> str:
        """The top controller of a pod as `namespace/Kind/name`; empty for a pod of its own or of its node."""
        owner = controller_of(pod.metadata)
        if owner is None or owner.kind == "Node":
            return ""
        namespace = pod.metadata.namespace
        for _ in range(_DEEPEST):
            above = self._above(namespace, owner, pod)
            if above is None:
                break
            owner = above
        return f"{namespace}/{owner.kind}/{owner.name}"

    def gpus_on(self, node: str) -> NodeGpus | None:
        """The GPUs of a node and who holds them; None for a node that is not there."""
        if found := self.nodes.get(node):
            return node_gpus(found, self.pods_on(node), self._nominated.get(node, ()))
        return None

    def _above(self, namespace: str, owner: OwnerReference, pod: Pod) -> OwnerReference | None:
        held: Mapping[str, Mapping[str, Any]] = {
            "ReplicaSet": self.replicasets,
            "Deployment": self.deployments,
            "StatefulSet": self.statefulsets,
            "Job": self.jobs,
        }
        found = held.get(owner.kind, {}).get(f"{namespace}/{owner.name}")
        if found is not None:
            return controller_of(found.metadata)
        made_with = (pod.metadata.labels or {}).get("pod-template-hash", "")
        if owner.kind == "ReplicaSet" and made_with and owner.name.endswith(f"-{made_with}"):
            # The ReplicaSet is not in sight: a Deployment names its own after itself and this hash.
            return OwnerReference(kind="Deployment", name=owner.name.removesuffix(f"-{made_with}"))
        return None


def controller_of(of: ObjectMeta) -> OwnerReference | None:
    """The one owner that makes and unmakes the object."""
    return next((owner for owner in of.owner_references or () if owner.controller), None)


def inventory_of(cache: ClusterCache) -> Inventory | Blind:
    """The inventory as of now. Without nodes or pods there is none; any other kind may be missing, and is named."""
    nodes, pods = cache.snapshot(kinds.NODES), cache.snapshot(kinds.PODS)
    if isinstance(nodes, Blind):
        return nodes
    if isinstance(pods, Blind):
        return pods
    oldest = min(nodes.at, pods.at)
    missing: dict[str, str] = {}

    def seen(kind: ResourceKind[T]) -> Mapping[str, T]:
        nonlocal oldest
        snapshot = cache.snapshot(kind)
        if isinstance(snapshot, Blind):
            missing[kind.name] = snapshot.reason
            return {}
        oldest = min(oldest, snapshot.at)
        return snapshot.objects

    found = {
        "namespaces": seen(kinds.NAMESPACES),
        "services": seen(kinds.SERVICES),
        "events": seen(kinds.EVENTS),
        "persistent_volume_claims": seen(kinds.PERSISTENT_VOLUME_CLAIMS),
        "deployments": seen(kinds.DEPLOYMENTS),
        "replicasets": seen(kinds.REPLICASETS),
        "statefulsets": seen(kinds.STATEFULSETS),
        "daemonsets": seen(kinds.DAEMONSETS),
        "jobs": seen(kinds.JOBS),
    }
    return Inventory(as_of=oldest, nodes=nodes.objects, pods=pods.objects, missing=missing, **found)  # type: ignore[arg-type]


def _frozen(lists: dict[str, list[Pod]]) -> dict[str, tuple[Pod, ...]]:
    return {key: tuple(pods) for key, pods in lists.items()}
