"""Workloads: Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs and JobSets."""

from datetime import datetime
from typing import ClassVar

from collectors.cluster.base import ApiStruct, Condition, KubernetesObject, LabelSelector
from collectors.cluster.pods import Container, PodSpec


class PodTemplateSpec(ApiStruct, frozen=True):
    spec: PodSpec = PodSpec()


class WorkloadSpec(ApiStruct, frozen=True):
    replicas: int | None = None
    selector: LabelSelector = LabelSelector()
    template: PodTemplateSpec = PodTemplateSpec()


class WorkloadStatus(ApiStruct, frozen=True):
    """The status of a Deployment, ReplicaSet, StatefulSet or DaemonSet."""

    replicas: int = 0
    ready_replicas: int = 0
    conditions: tuple[Condition, ...] | None = None


class Workload(KubernetesObject, frozen=True):
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()


class CommandedContainer(Container, frozen=True):
    """A container of a Deployment, with its command: an autoscaler's says what it scales."""

    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None


class DeploymentPodSpec(PodSpec, frozen=True):
    containers: tuple[CommandedContainer, ...] | None = None


class DeploymentTemplate(PodTemplateSpec, frozen=True):
    spec: DeploymentPodSpec = DeploymentPodSpec()


class DeploymentSpec(WorkloadSpec, frozen=True):
    template: DeploymentTemplate = DeploymentTemplate()


class Deployment(Workload, frozen=True):
    spec: DeploymentSpec = DeploymentSpec()


class ReplicaSet(Workload, frozen=True):
    pass


class StatefulSet(Workload, frozen=True):
    pass


class DaemonSet(Workload, frozen=True):
    pass


class PodConditionPattern(ApiStruct, frozen=True):
    type: str = ""
    status: str = "True"


class PodFailureRule(ApiStruct, frozen=True):
    action: str = ""
    on_pod_conditions: tuple[PodConditionPattern, ...] | None = None


class PodFailurePolicy(ApiStruct, frozen=True):
    rules: tuple[PodFailureRule, ...] | None = None


class JobSpec(ApiStruct, frozen=True):
    parallelism: int | None = None
    completions: int | None = None
    suspend: bool = False
    managed_by: str = ""
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    active_deadline_seconds: int | None = None
    template: PodTemplateSpec = PodTemplateSpec()

    @property
    def parallel_tasks(self) -> int:
        """How many pods a Job runs at the same time."""
        parallel = 1 if self.parallelism is None else self.parallelism
        return parallel if self.completions is None else min(parallel, self.completions)


class JobStatus(ApiStruct, frozen=True):
    ready: int = 0
    failed: int = 0
    start_time: datetime | None = None
    completion_time: datetime | None = None
    conditions: tuple[Condition, ...] | None = None


class Job(KubernetesObject, frozen=True):
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class JobTemplateSpec(ApiStruct, frozen=True):
    spec: JobSpec = JobSpec()


class ReplicatedJob(ApiStruct, frozen=True):
    """A role of a JobSet: `replicas` equal Jobs."""

    name: str
    replicas: int = 1
    template: JobTemplateSpec = JobTemplateSpec()


class JobSetFailureRule(ApiStruct, frozen=True):
    action: str = ""


class JobSetFailurePolicy(ApiStruct, frozen=True):
    max_restarts: int = 0
    rules: tuple[JobSetFailureRule, ...] | None = None


class JobSetSpec(ApiStruct, frozen=True):
    replicated_jobs: tuple[ReplicatedJob, ...] | None = None
    suspend: bool = False
    managed_by: str = ""
    failure_policy: JobSetFailurePolicy | None = None


class JobSetStatus(ApiStruct, frozen=True):
    restarts: int = 0
    conditions: tuple[Condition, ...] | None = None


class JobSet(KubernetesObject, frozen=True):
    """A group of Jobs with one life. Source: `jobset.x-k8s.io/v1alpha2`, JobSet 0.12."""

    api_kind: ClassVar[str] = "JobSet.jobset.x-k8s.io"
    spec: JobSetSpec = JobSetSpec()
    status: JobSetStatus = JobSetStatus()
