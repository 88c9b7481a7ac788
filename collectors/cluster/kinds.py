"""The cached kinds. To watch another kind, add one entry: its path, its type, and the indexes it is looked up by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from collectors.cluster import objects
from collectors.cluster.indexes import Keys, by_address, by_namespace, by_node, by_owner, by_owner_of_pod

T = TypeVar("T", bound=objects.KubernetesObject)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResourceKind(Generic[T]):
    """One kind, or one named object of a kind. `name` is also the key of its snapshot."""

    name: str
    path: str
    type: type[T]
    indexes: tuple[Callable[[T], Keys], ...] = ()
    params: Mapping[str, str] = field(default_factory=dict)


_cached: list[ResourceKind[Any]] = []


def _cache(kind: ResourceKind[T]) -> ResourceKind[T]:
    _cached.append(kind)
    return kind


def configmap(namespace: str, name: str) -> ResourceKind[objects.ConfigMap]:
    """Return the kind of one ConfigMap: all of a cluster's would be large, and may hold what we need not read."""
    return ResourceKind(
        name=f"configmaps/{namespace}/{name}",
        path=f"/api/v1/namespaces/{namespace}/configmaps",
        type=objects.ConfigMap,
        params={"fieldSelector": f"metadata.name={name}"},
    )


NODES = _cache(ResourceKind(name="nodes", path="/api/v1/nodes", type=objects.Node))
PODS = _cache(
    ResourceKind(
        name="pods",
        path="/api/v1/pods",
        type=objects.Pod,
        indexes=(by_node, by_owner_of_pod, by_address),
    )
)
NAMESPACES = _cache(ResourceKind(name="namespaces", path="/api/v1/namespaces", type=objects.Namespace))
SERVICES = _cache(ResourceKind(name="services", path="/api/v1/services", type=objects.Service))
EVENTS = _cache(
    ResourceKind(name="events", path="/api/v1/events", type=objects.Event, indexes=(by_namespace,))
)
PERSISTENT_VOLUME_CLAIMS = _cache(
    ResourceKind(
        name="persistentvolumeclaims",
        path="/api/v1/persistentvolumeclaims",
        type=objects.PersistentVolumeClaim,
        indexes=(by_namespace,),
    )
)
DEPLOYMENTS = _cache(
    ResourceKind(
        name="deployments",
        path="/apis/apps/v1/deployments",
        type=objects.Deployment,
        indexes=(by_namespace, by_owner),
    )
)
REPLICASETS = _cache(
    ResourceKind(
        name="replicasets", path="/apis/apps/v1/replicasets", type=objects.ReplicaSet, indexes=(by_owner,)
    )
)
STATEFULSETS = _cache(
    ResourceKind(
        name="statefulsets",
        path="/apis/apps/v1/statefulsets",
        type=objects.StatefulSet,
        indexes=(by_namespace, by_owner),
    )
)
DAEMONSETS = _cache(ResourceKind(name="daemonsets", path="/apis/apps/v1/daemonsets", type=objects.DaemonSet))
JOBS = _cache(
    ResourceKind(name="jobs", path="/apis/batch/v1/jobs", type=objects.Job, indexes=(by_namespace, by_owner))
)
DNS_AUTOSCALERS = tuple(
    _cache(configmap("kube-system", name))
    for name in ("kube-dns-autoscaler", "dns-autoscaler", "coredns-autoscaler")
)

DEFAULT_KINDS: tuple[ResourceKind[Any], ...] = tuple(_cached)
