"""This file has what makes pods: Deployments and their kin, and Jobs."""

from datetime import datetime

from collectors.cluster.base import ApiStruct, Condition, KubernetesObject, LabelSelector
from collectors.cluster.pods import PodSpec


class PodTemplateSpec(ApiStruct, frozen=True):
    spec: PodSpec = PodSpec()


class WorkloadSpec(ApiStruct, frozen=True):
    replicas: int | None = None
    selector: LabelSelector = LabelSelector()
    template: PodTemplateSpec = PodTemplateSpec()
    paused: bool = False


class WorkloadStatus(ApiStruct, frozen=True):
    """Of a Deployment, ReplicaSet, StatefulSet or DaemonSet; the last three fields are the DaemonSet's."""

    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    updated_replicas: int = 0
    conditions: tuple[Condition, ...] | None = None
    desired_number_scheduled: int = 0
    number_ready: int = 0
    number_unavailable: int = 0


class Workload(KubernetesObject, frozen=True):
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()


class Deployment(Workload, frozen=True):
    pass


class ReplicaSet(Workload, frozen=True):
    pass


class StatefulSet(Workload, frozen=True):
    pass


class DaemonSet(Workload, frozen=True):
    pass


class JobSpec(ApiStruct, frozen=True):
    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str = ""
    backoff_limit: int | None = None
    active_deadline_seconds: int | None = None
    suspend: bool = False
    template: PodTemplateSpec = PodTemplateSpec()


class JobStatus(ApiStruct, frozen=True):
    active: int = 0
    ready: int = 0
    succeeded: int = 0
    failed: int = 0
    completed_indexes: str = ""
    failed_indexes: str = ""
    start_time: datetime | None = None
    completion_time: datetime | None = None
    conditions: tuple[Condition, ...] | None = None


class Job(KubernetesObject, frozen=True):
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()
