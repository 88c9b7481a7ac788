"""This file has every mirrored kind in one place: nodes and small kinds here, pods and workloads from their files."""

from datetime import datetime

import msgspec

from collectors.mirror.base import (
    Condition,
    Metadata,
    Object,
    OwnerReference,
    Quantities,
    Resources,
    Selector,
    Thing,
)
from collectors.mirror.pods import (
    Container,
    ContainerState,
    ContainerStatus,
    Pod,
    PodSpec,
    PodStatus,
    Terminated,
    Waiting,
)
from collectors.mirror.workloads import (
    DaemonSet,
    Deployment,
    Job,
    JobSpec,
    JobStatus,
    ReplicaSet,
    StatefulSet,
    Workload,
)

__all__ = [
    "Claim",
    "Condition",
    "ConfigMap",
    "Container",
    "ContainerState",
    "ContainerStatus",
    "DaemonSet",
    "Deployment",
    "Event",
    "Job",
    "JobSpec",
    "JobStatus",
    "Metadata",
    "Namespace",
    "Node",
    "NodeStatus",
    "Object",
    "OwnerReference",
    "Pod",
    "PodSpec",
    "PodStatus",
    "Quantities",
    "ReplicaSet",
    "Resources",
    "Selector",
    "Service",
    "StatefulSet",
    "Taint",
    "Terminated",
    "Waiting",
    "Workload",
]


class Taint(Thing, frozen=True):
    key: str
    value: str = ""
    effect: str = ""
    time_added: datetime | None = None


class NodeAddress(Thing, frozen=True):
    type: str
    address: str


class NodeSystemInfo(Thing, frozen=True):
    boot_id: str = msgspec.field(default="", name="bootID")
    kernel_version: str = ""
    kubelet_version: str = ""


class NodeSpec(Thing, frozen=True):
    unschedulable: bool = False
    taints: tuple[Taint, ...] | None = None


class NodeStatus(Thing, frozen=True):
    capacity: Quantities | None = None
    allocatable: Quantities | None = None
    conditions: tuple[Condition, ...] | None = None
    addresses: tuple[NodeAddress, ...] | None = None
    node_info: NodeSystemInfo = NodeSystemInfo()


class Node(Object, frozen=True):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceStatus(Thing, frozen=True):
    phase: str = ""


class Namespace(Object, frozen=True):
    status: NamespaceStatus = NamespaceStatus()


class ServicePort(Thing, frozen=True):
    name: str = ""
    port: int = 0
    protocol: str = ""


class ServiceSpec(Thing, frozen=True):
    type: str = ""
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    selector: dict[str, str] | None = None
    ports: tuple[ServicePort, ...] | None = None


class Service(Object, frozen=True):
    spec: ServiceSpec = ServiceSpec()


class ObjectReference(Thing, frozen=True):
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class EventSource(Thing, frozen=True):
    component: str = ""
    host: str = ""


class EventSeries(Thing, frozen=True):
    count: int = 0
    last_observed_time: datetime | None = None


class Event(Object, frozen=True):
    """A core/v1 Event. Both styles: `count` and `last_timestamp`, or `series` and `event_time`."""

    involved_object: ObjectReference = ObjectReference()
    type: str = ""
    reason: str = ""
    message: str = ""
    count: int | None = None
    first_timestamp: datetime | None = None
    last_timestamp: datetime | None = None
    event_time: datetime | None = None
    series: EventSeries | None = None
    source: EventSource = EventSource()
    reporting_component: str = ""

    @property
    def last_seen(self) -> datetime | None:
        """When it last happened, whichever style wrote it."""
        of_series = self.series.last_observed_time if self.series else None
        return of_series or self.last_timestamp or self.event_time or self.first_timestamp

    @property
    def times(self) -> int:
        return max((self.series.count if self.series else 0), self.count or 0, 1)


class ConfigMap(Object, frozen=True):
    data: dict[str, str] | None = None


class ClaimSpec(Thing, frozen=True):
    volume_name: str = ""
    storage_class_name: str | None = None
    access_modes: tuple[str, ...] | None = None
    volume_mode: str = ""
    resources: Resources = Resources()


class ClaimStatus(Thing, frozen=True):
    phase: str = ""
    capacity: Quantities | None = None


class Claim(Object, frozen=True):
    """A PersistentVolumeClaim."""

    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()
