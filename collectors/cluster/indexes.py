"""Indexes of cached objects: functions from an object to the keys under which it is found. Pure."""

from collectors.cluster.base import KubernetesObject, OwnerReference
from collectors.cluster.devices import ResourceSlice
from collectors.cluster.objects import Event
from collectors.cluster.pods import Pod
from collectors.facts.workload_keys import BUILT_IN_KINDS, kind_with_group, workload_key

Keys = tuple[str, ...]

# The API versions of Kubernetes' own owners, and none at all: their kinds stand in keys as they are.
_BUILT_IN_APIS = frozenset(("", "v1", "apps/v1", "batch/v1"))


def by_namespace(of: KubernetesObject) -> Keys:
    return (of.metadata.namespace,)


def by_owner(of: KubernetesObject) -> Keys:
    """Return the key of the object's owner."""
    owner = owner_of(of)
    return (workload_name(of.metadata.namespace, owner),) if owner is not None else ()


def by_managed(of: KubernetesObject) -> Keys:
    """Return the key of the workload that the object stands for, as Kueue's Workload does: its owner's."""
    return by_owner(of)


def by_leader(of: KubernetesObject) -> Keys:
    """Return the namespace of an object that a pod owns, as the leader of a LeaderWorkerSet does its workers."""
    owner = owner_of(of)
    return (of.metadata.namespace,) if owner is not None and owner.kind == "Pod" else ()


def by_owner_of_pod(pod: Pod) -> Keys:
    """Return the pod's owner, and the Deployment of its ReplicaSet, which may not be visible."""
    owner = owner_of(pod)
    if owner is None:
        return ()
    namespace = pod.metadata.namespace
    own = workload_name(namespace, owner)
    if owner.kind != "ReplicaSet" or (above := deployment_of(pod, owner)) is None:
        return (own,)
    return (own, workload_name(namespace, above))


def by_node(pod: Pod) -> Keys:
    """Return the node that the pod is bound to, or nominated for by preemption."""
    node = pod.spec.node_name or pod.status.nominated_node_name
    return (node,) if node else ()


def by_node_of_slice(of: ResourceSlice) -> Keys:
    """Return the node whose devices the slice lists."""
    return (of.spec.node_name,) if of.spec.node_name else ()


def by_waiting(pod: Pod) -> Keys:
    """Return the namespace of a pod that is not bound to a node."""
    return () if pod.spec.node_name or pod.status.phase != "Pending" else (pod.metadata.namespace,)


def by_unready(pod: Pod) -> Keys:
    """Return the namespace of a pod that has a node and is not ready, or that has restarted or failed."""
    status = pod.status
    if not pod.spec.node_name or status.phase == "Succeeded":
        return ()
    is_well = any(one.type == "Ready" and one.status == "True" for one in status.conditions or ())
    if is_well and not any(one.restart_count for one in status.container_statuses or ()):
        return ()
    return (pod.metadata.namespace,)


def by_claim(pod: Pod) -> Keys:
    """Return the claims that the pod mounts, as `namespace/name`."""
    if not pod.spec.volumes:
        return ()
    claims = (one.persistent_volume_claim for one in pod.spec.volumes)
    named = (f"{pod.metadata.namespace}/{one.claim_name}" for one in claims if one is not None)
    return tuple(dict.fromkeys(named))


def by_involved_object(event: Event) -> Keys:
    """Return the key of what the event is about; the namespace is the event's own."""
    about = event.involved_object
    return (workload_key(event.metadata.namespace, kind_in_api(about.kind, about.api_version), about.name),)


def by_address(pod: Pod) -> Keys:
    """Return what an exporter in the pod may report as its node's name: the pod's address, a DaemonSet's pod name."""
    address = "" if pod.spec.host_network else pod.status.pod_ip
    owner = controller_of(pod)
    if owner is not None and owner.kind == "DaemonSet":
        return (address, pod.metadata.name) if address else (pod.metadata.name,)
    return (address,) if address else ()


def controller_of(of: KubernetesObject) -> OwnerReference | None:
    """Return the owner that manages the object."""
    for owner in of.metadata.owner_references or ():
        if owner.controller:
            return owner
    return None


def is_unowned(one: KubernetesObject, *except_by: str) -> bool:
    """Return whether nothing else manages the object, or only one of these kinds."""
    owner = controller_of(one)
    return owner is None or kind_of(owner) in except_by


def owner_of(of: KubernetesObject) -> OwnerReference | None:
    """Return the owner that manages the object, or else one of a kind that is not Kubernetes' own.

    Kubernetes' controllers always mark their references, operators may not.
    """
    if (found := controller_of(of)) is not None:
        return found
    for owner in of.metadata.owner_references or ():
        if kind_of(owner) not in BUILT_IN_KINDS:
            return owner
    return None


def deployment_of(pod: Pod, owner: OwnerReference) -> OwnerReference | None:
    """Return the Deployment of the pod's ReplicaSet, whose name is the Deployment's and a hash; None for others."""
    if owner.kind != "ReplicaSet":
        return None
    suffix = f"-{(pod.metadata.labels or {}).get('pod-template-hash', '')}"
    if len(suffix) == 1 or not owner.name.endswith(suffix):
        return None
    return OwnerReference(kind="Deployment", name=owner.name.removesuffix(suffix))


def workload_of(controller: KubernetesObject) -> str:
    """Return the key of an object of a cached kind."""
    meta = controller.metadata
    return f"{meta.namespace}/{controller.kind_in_keys()}/{meta.name}"


def workload_name(namespace: str, owner: OwnerReference) -> str:
    """Return the key of an owner."""
    return f"{namespace}/{kind_of(owner)}/{owner.name}"


def kind_of(owner: OwnerReference) -> str:
    """Return the owner's kind as it stands in keys."""
    return kind_in_api(owner.kind, owner.api_version)


def kind_in_api(kind: str, api_version: str) -> str:
    """Return a kind of this API version as it stands in keys: with its group, unless that is one of Kubernetes' own,
    and with its version, where that alone tells two kinds apart."""
    if api_version in _BUILT_IN_APIS:  # nearly all are: every event of a watch comes here
        return kind
    group, _, version = api_version.rpartition("/")
    return kind_with_group(kind, group, version)
