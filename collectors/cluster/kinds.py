"""The cached kinds. To watch another kind, add one entry: its path, its type, and the indexes it is looked up by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from collectors.cluster import objects
from collectors.cluster.host_mounts import by_kept_mount
from collectors.cluster.indexes import (
    Keys,
    by_address,
    by_claim,
    by_involved_object,
    by_leader,
    by_managed,
    by_namespace,
    by_node,
    by_node_of_slice,
    by_owner,
    by_owner_of_pod,
    by_unready,
    by_waiting,
)

T = TypeVar("T", bound=objects.KubernetesObject)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResourceKind(Generic[T]):
    """One kind, or one named object of a kind. `name` is also the key of its snapshot.

    A cluster may not serve a custom kind: then it has no object of it, which is known and not blindness.
    """

    name: str
    path: str
    type: type[T]
    indexes: tuple[Callable[[T], Keys], ...] = ()
    params: Mapping[str, str] = field(default_factory=dict)
    is_namespaced: bool = True

    @property
    def api(self) -> str:
        """The `apiVersion` of its objects."""
        _, root, *rest = self.path.split("/")
        return rest[0] if root == "api" else "/".join(rest[:2])

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.api.partition("/")[0] if "/" in self.api else ""

    @property
    def kind(self) -> str:
        """The `kind` of its objects, which kinds of other groups may share."""
        return self.kind_in_keys.partition(".")[0]

    @property
    def kind_in_keys(self) -> str:
        """The kind as it stands in keys, where no two share it: `Job`, `JobSet.jobset.x-k8s.io`."""
        return self.type.kind_in_keys()


_cached: list[ResourceKind[Any]] = []


def _cache(
    path: str,
    type: type[T],
    *,
    name: str = "",
    indexes: tuple[Callable[[T], Keys], ...] = (),
    is_namespaced: bool = True,
) -> ResourceKind[T]:
    """Watch a kind. Its name is its plural in the path, but where another kind has the plural already."""
    kind = ResourceKind(
        name=name or path.rpartition("/")[2],
        path=path,
        type=type,
        indexes=indexes,
        is_namespaced=is_namespaced,
    )
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


_OWNED = (by_namespace, by_owner)
NODES = _cache("/api/v1/nodes", objects.Node, is_namespaced=False)
PODS = _cache(
    "/api/v1/pods",
    objects.Pod,
    indexes=(by_node, by_owner_of_pod, by_address, by_waiting, by_unready, by_claim, by_kept_mount),
)
NAMESPACES = _cache("/api/v1/namespaces", objects.Namespace, is_namespaced=False)
SERVICES = _cache("/api/v1/services", objects.Service)
EVENTS = _cache("/api/v1/events", objects.Event, indexes=(by_namespace, by_involved_object))
PERSISTENT_VOLUME_CLAIMS = _cache(
    "/api/v1/persistentvolumeclaims", objects.PersistentVolumeClaim, indexes=(by_namespace,)
)
PERSISTENT_VOLUMES = _cache("/api/v1/persistentvolumes", objects.PersistentVolume, is_namespaced=False)
STORAGE_CLASSES = _cache("/apis/storage.k8s.io/v1/storageclasses", objects.StorageClass, is_namespaced=False)
VOLUME_ATTACHMENTS = _cache(
    "/apis/storage.k8s.io/v1/volumeattachments", objects.VolumeAttachment, is_namespaced=False
)
DEPLOYMENTS = _cache("/apis/apps/v1/deployments", objects.Deployment, indexes=_OWNED)
REPLICASETS = _cache("/apis/apps/v1/replicasets", objects.ReplicaSet, indexes=(by_owner,))
STATEFULSETS = _cache("/apis/apps/v1/statefulsets", objects.StatefulSet, indexes=(*_OWNED, by_leader))
DAEMONSETS = _cache("/apis/apps/v1/daemonsets", objects.DaemonSet)
JOBS = _cache("/apis/batch/v1/jobs", objects.Job, indexes=_OWNED)
JOBSETS = _cache("/apis/jobset.x-k8s.io/v1alpha2/jobsets", objects.JobSet, indexes=_OWNED)
PYTORCHJOBS = _cache("/apis/kubeflow.org/v1/pytorchjobs", objects.PyTorchJob, indexes=_OWNED)
TFJOBS = _cache("/apis/kubeflow.org/v1/tfjobs", objects.TFJob, indexes=_OWNED)
MPIJOBS = _cache("/apis/kubeflow.org/v1/mpijobs", objects.MPIJob, indexes=_OWNED)
MPIJOBS_V2BETA1 = _cache(
    "/apis/kubeflow.org/v2beta1/mpijobs",
    objects.MPIJobOfMPIOperator,
    name="mpijobs.v2beta1.kubeflow.org",
    indexes=_OWNED,
)
TRAINJOBS = _cache("/apis/trainer.kubeflow.org/v1alpha1/trainjobs", objects.TrainJob, indexes=_OWNED)
TRAINING_RUNTIMES = _cache("/apis/trainer.kubeflow.org/v1alpha1/trainingruntimes", objects.TrainingRuntime)
CLUSTER_TRAINING_RUNTIMES = _cache(
    "/apis/trainer.kubeflow.org/v1alpha1/clustertrainingruntimes",
    objects.ClusterTrainingRuntime,
    is_namespaced=False,
)
RAYJOBS = _cache("/apis/ray.io/v1/rayjobs", objects.RayJob, indexes=_OWNED)
VCJOBS = _cache(
    "/apis/batch.volcano.sh/v1alpha1/jobs", objects.VolcanoJob, name="jobs.batch.volcano.sh", indexes=_OWNED
)
KUEUE_WORKLOADS = _cache(
    "/apis/kueue.x-k8s.io/v1beta2/workloads",
    objects.KueueWorkload,
    name="workloads.kueue.x-k8s.io",
    indexes=(by_managed,),
)
RESOURCE_CLAIMS = _cache(
    "/apis/resource.k8s.io/v1/resourceclaims", objects.ResourceClaim, indexes=(by_namespace,)
)
RESOURCE_CLAIM_TEMPLATES = _cache(
    "/apis/resource.k8s.io/v1/resourceclaimtemplates", objects.ResourceClaimTemplate, indexes=(by_namespace,)
)
RESOURCE_SLICES = _cache(
    "/apis/resource.k8s.io/v1/resourceslices",
    objects.ResourceSlice,
    indexes=(by_node_of_slice,),
    is_namespaced=False,
)
# Kubernetes serves neither by default (KEP-5055); a cluster that does has one of them, or both with the same objects.
DEVICE_TAINT_RULES = _cache(
    "/apis/resource.k8s.io/v1beta2/devicetaintrules", objects.DeviceTaintRule, is_namespaced=False
)
OLDER_DEVICE_TAINT_RULES = _cache(
    "/apis/resource.k8s.io/v1alpha3/devicetaintrules",
    objects.OlderDeviceTaintRule,
    name="devicetaintrules/v1alpha3",
    is_namespaced=False,
)
DNS_AUTOSCALERS = tuple(
    configmap("kube-system", name)
    for name in (
        "kube-dns-autoscaler",
        "dns-autoscaler",
        "coredns-autoscaler",
        "rke2-coredns-rke2-coredns-autoscaler",
    )
)

# Ask for it when it is used, do not keep it.
DEFAULT_KINDS: tuple[ResourceKind[Any], ...] = (*_cached, *DNS_AUTOSCALERS)


def owner_kinds() -> dict[str, ResourceKind[Any]]:
    """Return the kinds whose objects own others, by the kind as it stands in keys."""
    return {kind.kind_in_keys: kind for kind in DEFAULT_KINDS if by_owner in kind.indexes}
