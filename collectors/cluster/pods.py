"""Pods: the fields that are used."""

from datetime import datetime

import msgspec

from collectors.cluster.base import (
    ApiStruct,
    Condition,
    Explained,
    KubernetesObject,
    Quantities,
    ResourceRequirements,
)


class VolumeMount(ApiStruct, frozen=True):
    name: str
    mount_propagation: str = ""  # empty is None: what the host unmounts later stays mounted in the container


class Container(ApiStruct, frozen=True):
    name: str
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str = ""  # an init container with Always is a sidecar
    volume_mounts: tuple[VolumeMount, ...] | None = None


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


class ContainerStatus(ApiStruct, frozen=True):
    name: str
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()
    resources: ResourceRequirements | None = None


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
    volumes: tuple[PodVolume, ...] | None = None
    resource_claims: tuple[PodResourceClaim, ...] | None = None
    hostname: str = ""
    subdomain: str = ""


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


class Pod(KubernetesObject, frozen=True):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()
