"""This file lists the kinds that are cached: where each is served and what it is read into."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from collectors.cluster import objects

T = TypeVar("T", bound=objects.KubernetesObject)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResourceKind(Generic[T]):
    """One kind, or one named object of a kind. `name` is also the key of its snapshot."""

    name: str
    path: str
    type: type[T]
    params: Mapping[str, str] = field(default_factory=dict)


NODES = ResourceKind(name="nodes", path="/api/v1/nodes", type=objects.Node)
PODS = ResourceKind(name="pods", path="/api/v1/pods", type=objects.Pod)
NAMESPACES = ResourceKind(name="namespaces", path="/api/v1/namespaces", type=objects.Namespace)
SERVICES = ResourceKind(name="services", path="/api/v1/services", type=objects.Service)
EVENTS = ResourceKind(name="events", path="/api/v1/events", type=objects.Event)
PERSISTENT_VOLUME_CLAIMS = ResourceKind(
    name="persistentvolumeclaims", path="/api/v1/persistentvolumeclaims", type=objects.PersistentVolumeClaim
)
DEPLOYMENTS = ResourceKind(name="deployments", path="/apis/apps/v1/deployments", type=objects.Deployment)
REPLICASETS = ResourceKind(name="replicasets", path="/apis/apps/v1/replicasets", type=objects.ReplicaSet)
STATEFULSETS = ResourceKind(name="statefulsets", path="/apis/apps/v1/statefulsets", type=objects.StatefulSet)
DAEMONSETS = ResourceKind(name="daemonsets", path="/apis/apps/v1/daemonsets", type=objects.DaemonSet)
JOBS = ResourceKind(name="jobs", path="/apis/batch/v1/jobs", type=objects.Job)


def configmap(namespace: str, name: str) -> ResourceKind[objects.ConfigMap]:
    """One ConfigMap by name: all of a cluster's would be large, and may hold what is none of our business."""
    return ResourceKind(
        name=f"configmaps/{namespace}/{name}",
        path=f"/api/v1/namespaces/{namespace}/configmaps",
        type=objects.ConfigMap,
        params={"fieldSelector": f"metadata.name={name}"},
    )


DNS_AUTOSCALERS = tuple(
    configmap("kube-system", name) for name in ("kube-dns-autoscaler", "dns-autoscaler", "coredns-autoscaler")
)

DEFAULT_KINDS: tuple[ResourceKind[Any], ...] = (
    NODES,
    PODS,
    NAMESPACES,
    SERVICES,
    EVENTS,
    PERSISTENT_VOLUME_CLAIMS,
    DEPLOYMENTS,
    REPLICASETS,
    STATEFULSETS,
    DAEMONSETS,
    JOBS,
    *DNS_AUTOSCALERS,
)
