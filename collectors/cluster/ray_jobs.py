"""Ray's jobs, each with a cluster of its own. Source: `ray.io/v1`, KubeRay 1.7."""

from datetime import datetime
from typing import ClassVar

from collectors.cluster.base import ApiStruct, Explained, KubernetesObject
from collectors.cluster.workloads import PodTemplateSpec


class RayHead(ApiStruct, frozen=True):
    template: PodTemplateSpec = PodTemplateSpec()


class RayWorkers(ApiStruct, frozen=True):
    """A group of equal workers; each may be several pods."""

    group_name: str = ""
    replicas: int | None = None
    num_of_hosts: int | None = None
    template: PodTemplateSpec = PodTemplateSpec()

    @property
    def count(self) -> int:
        return (1 if self.replicas is None else self.replicas) * (self.num_of_hosts or 1)


class RayClusterSpec(ApiStruct, frozen=True):
    head_group_spec: RayHead = RayHead()
    worker_group_specs: tuple[RayWorkers, ...] | None = None


class RayJobSpec(ApiStruct, frozen=True):
    ray_cluster_spec: RayClusterSpec | None = None
    suspend: bool = False
    managed_by: str = ""
    submission_mode: str = ""
    active_deadline_seconds: int | None = None


class RayJobStatus(Explained, frozen=True):
    """`job_status` is Ray's own word, `job_deployment_status` that of the operator."""

    job_status: str = ""
    job_deployment_status: str = ""
    ray_cluster_name: str = ""
    start_time: datetime | None = None
    end_time: datetime | None = None


class RayJob(KubernetesObject, frozen=True):
    api_kind: ClassVar[str] = "RayJob.ray.io"
    spec: RayJobSpec = RayJobSpec()
    status: RayJobStatus = RayJobStatus()
