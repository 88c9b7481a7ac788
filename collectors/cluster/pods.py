"""Pods: the fields that are used."""

from datetime import datetime
from typing import Final

import msgspec
from msgspec.structs import force_setattr

from collectors.cluster.base import (
    ApiStruct,
    Condition,
    Explained,
    KubernetesObject,
    Quantities,
    ResourceRequirements,
    make_one_line,
    share_texts,
    shared_requirements,
)


class VolumeMount(ApiStruct, frozen=True):
    name: str
    mount_propagation: str = ""  # empty is None: what the host unmounts later stays mounted in the container


class Container(ApiStruct, frozen=True):
    name: str
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str = ""  # an init container with Always is a sidecar
    volume_mounts: tuple[VolumeMount, ...] | None = None  # of the host's paths only

    def __post_init__(self) -> None:
        share_texts(self, ("name", "image", "restart_policy"))
        force_setattr(self, "resources", shared_requirements(self.resources))


class ContainerStateRunning(ApiStruct, frozen=True):
    started_at: datetime | None = None


class ContainerStateWaiting(Explained, frozen=True):
    pass


class ContainerStateTerminated(Explained, frozen=True):
    exit_code: int = 0
    started_at: datetime | None = None
    finished_at: datetime | None = None


class ContainerState(ApiStruct, frozen=True):
    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


_NO_STATE: Final = ContainerState()


class ContainerStatus(ApiStruct, frozen=True):
    name: str
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = _NO_STATE
    last_state: ContainerState = _NO_STATE
    resources: ResourceRequirements | None = None

    def __post_init__(self) -> None:
        share_texts(self, ("name",))
        if self.last_state == _NO_STATE:
            force_setattr(self, "last_state", _NO_STATE)
        if self.resources is not None:
            force_setattr(self, "resources", shared_requirements(self.resources))


class ClaimSource(ApiStruct, frozen=True):
    claim_name: str
    read_only: bool = False


class HostPathSource(ApiStruct, frozen=True):
    path: str


class PodVolume(ApiStruct, frozen=True):
    name: str = ""
    persistent_volume_claim: ClaimSource | None = None
    host_path: HostPathSource | None = None


class PodResourceClaim(ApiStruct, frozen=True):
    """A claim for devices: one that exists, or one that is made from a template."""

    name: str
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""


class PodResourceClaimStatus(ApiStruct, frozen=True):
    name: str
    resource_claim_name: str = ""


class ExtendedRequestMapping(ApiStruct, frozen=True):
    resource_name: str = ""


class ExtendedResourceClaimStatus(ApiStruct, frozen=True):
    """The claim by which requests of containers, such as `nvidia.com/gpu`, are met."""

    resource_claim_name: str = ""
    request_mappings: tuple[ExtendedRequestMapping, ...] | None = None


class SchedulingGroup(ApiStruct, frozen=True):
    """The gang of Kubernetes' own scheduler that the pod belongs to."""

    pod_group_name: str = ""


class PodSpec(ApiStruct, frozen=True):
    node_name: str = ""
    containers: tuple[Container, ...] | None = None
    init_containers: tuple[Container, ...] | None = None
    overhead: Quantities | None = None
    priority: int = 0
    priority_class_name: str = ""
    host_network: bool = False
    restart_policy: str = ""
    node_selector: dict[str, str] | None = None
    volumes: tuple[PodVolume, ...] | None = None  # claims and paths of the host only
    resource_claims: tuple[PodResourceClaim, ...] | None = None
    hostname: str = ""
    subdomain: str = ""
    scheduling_group: SchedulingGroup | None = None

    def __post_init__(self) -> None:
        share_texts(self, ("node_name", "priority_class_name", "restart_policy", "subdomain"))
        volumes = tuple(one for one in self.volumes or () if one.persistent_volume_claim or one.host_path)
        force_setattr(self, "volumes", volumes or None)
        of_host = {one.name for one in volumes if one.host_path}
        for container in (*(self.containers or ()), *(self.init_containers or ())):
            if container.volume_mounts:
                mounts = tuple(one for one in container.volume_mounts if one.name in of_host)
                force_setattr(container, "volume_mounts", mounts or None)


class PodStatus(Explained, frozen=True):
    phase: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    start_time: datetime | None = None
    nominated_node_name: str = ""
    conditions: tuple[Condition, ...] | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] | None = None
    extended_resource_claim_status: ExtendedResourceClaimStatus | None = None

    def __post_init__(self) -> None:
        make_one_line(self)
        share_texts(self, ("phase", "reason"))


class Pod(KubernetesObject, frozen=True):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()
