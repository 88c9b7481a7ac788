"""The objects of all cached kinds; pods, workloads and volumes are defined in their own files."""

from datetime import datetime

import msgspec

from collectors.cluster.base import (
    ApiStruct,
    Condition,
    KubernetesObject,
    LabelSelector,
    ObjectMeta,
    OwnerReference,
    Quantities,
    ResourceRequirements,
    make_one_line,
)
from collectors.cluster.devices import ResourceClaim, ResourceClaimTemplate, ResourceSlice
from collectors.cluster.kueue_workloads import KueueWorkload
from collectors.cluster.operator_jobs import MPIJob, MPIJobOfMPIOperator, PyTorchJob, TFJob
from collectors.cluster.pods import (
    Container,
    ContainerState,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    Pod,
    PodSpec,
    PodStatus,
)
from collectors.cluster.ray_jobs import RayJob
from collectors.cluster.storage import (
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from collectors.cluster.train_jobs import ClusterTrainingRuntime, TrainingRuntime, TrainJob
from collectors.cluster.volcano_jobs import VolcanoJob
from collectors.cluster.workloads import (
    DaemonSet,
    Deployment,
    Job,
    JobSet,
    JobSpec,
    JobStatus,
    ReplicaSet,
    StatefulSet,
    Workload,
)

__all__ = [
    "ClusterTrainingRuntime",
    "Condition",
    "ConfigMap",
    "Container",
    "ContainerState",
    "ContainerStateTerminated",
    "ContainerStateWaiting",
    "ContainerStatus",
    "DaemonSet",
    "Deployment",
    "Event",
    "Job",
    "JobSet",
    "JobSpec",
    "JobStatus",
    "KubernetesObject",
    "KueueWorkload",
    "LabelSelector",
    "MPIJob",
    "MPIJobOfMPIOperator",
    "Namespace",
    "Node",
    "NodeStatus",
    "ObjectMeta",
    "OwnerReference",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodSpec",
    "PodStatus",
    "PyTorchJob",
    "Quantities",
    "RayJob",
    "ReplicaSet",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceRequirements",
    "ResourceSlice",
    "Service",
    "StatefulSet",
    "StorageClass",
    "TFJob",
    "Taint",
    "TrainJob",
    "TrainingRuntime",
    "VolcanoJob",
    "VolumeAttachment",
    "Workload",
]


class Taint(ApiStruct, frozen=True):
    key: str
    value: str = ""
    effect: str = ""
    time_added: datetime | None = None


class NodeAddress(ApiStruct, frozen=True):
    type: str
    address: str


class NodeSpec(ApiStruct, frozen=True):
    unschedulable: bool = False
    taints: tuple[Taint, ...] | None = None


class NodeSystemInfo(ApiStruct, frozen=True):
    boot_id: str = msgspec.field(default="", name="bootID")


class NodeStatus(ApiStruct, frozen=True):
    capacity: Quantities | None = None
    allocatable: Quantities | None = None
    conditions: tuple[Condition, ...] | None = None
    addresses: tuple[NodeAddress, ...] | None = None
    node_info: NodeSystemInfo = NodeSystemInfo()


class Node(KubernetesObject, frozen=True):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = None


class Namespace(KubernetesObject, frozen=True):
    status: NamespaceStatus = NamespaceStatus()


class ServicePort(ApiStruct, frozen=True):
    port: int = 0


class ServiceSpec(ApiStruct, frozen=True):
    type: str = ""
    ports: tuple[ServicePort, ...] | None = None
    cluster_ip: str = msgspec.field(default="", name="clusterIP")  # "None" of a headless one
    selector: dict[str, str] | None = None


class LoadBalancerIngress(ApiStruct, frozen=True):
    ip: str = ""
    hostname: str = ""


class LoadBalancerStatus(ApiStruct, frozen=True):
    ingress: tuple[LoadBalancerIngress, ...] | None = None


class ServiceStatus(ApiStruct, frozen=True):
    load_balancer: LoadBalancerStatus = LoadBalancerStatus()


class Service(KubernetesObject, frozen=True):
    spec: ServiceSpec = ServiceSpec()
    status: ServiceStatus = ServiceStatus()


class ObjectReference(ApiStruct, frozen=True):
    kind: str = ""
    api_version: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class EventSeries(ApiStruct, frozen=True):
    count: int = 0
    last_observed_time: datetime | None = None


class EventSource(ApiStruct, frozen=True):
    host: str = ""  # the node of a kubelet


class Event(KubernetesObject, frozen=True):
    """A core/v1 Event in either style: `count` and `last_timestamp`, or `series` and `event_time`."""

    involved_object: ObjectReference = ObjectReference()
    source: EventSource = EventSource()
    type: str = ""
    reason: str = ""
    message: str = ""
    count: int | None = None
    first_timestamp: datetime | None = None
    last_timestamp: datetime | None = None
    event_time: datetime | None = None
    series: EventSeries | None = None

    def __post_init__(self) -> None:
        make_one_line(self)

    @property
    def last_seen(self) -> datetime | None:
        """When it last happened, in either style."""
        of_series = self.series.last_observed_time if self.series else None
        return of_series or self.last_timestamp or self.event_time or self.first_timestamp

    @property
    def times(self) -> int:
        return max((self.series.count if self.series else 0), self.count or 0, 1)


class ConfigMap(KubernetesObject, frozen=True):
    data: dict[str, str] | None = None
