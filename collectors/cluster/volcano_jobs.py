"""Volcano's Jobs: pods that start together, each task a role. Source: `batch.volcano.sh/v1alpha1`, Volcano 1.15."""

from typing import ClassVar

from collectors.cluster.base import ApiStruct, Explained, KubernetesObject
from collectors.cluster.workloads import PodTemplateSpec


class VolcanoTask(ApiStruct, frozen=True):
    """A role: equal pods."""

    name: str
    replicas: int = 1
    min_available: int | None = None
    template: PodTemplateSpec = PodTemplateSpec()


class VolcanoJobSpec(ApiStruct, frozen=True):
    """`max_retry` counts restarts and resumes alike. `min_available`: how many pods the gang needs; 0: all."""

    tasks: tuple[VolcanoTask, ...] | None = None
    min_available: int = 0
    queue: str = ""
    priority_class_name: str = ""
    max_retry: int = 3


class VolcanoJobState(Explained, frozen=True):
    phase: str = ""


class VolcanoJobStatus(ApiStruct, frozen=True):
    state: VolcanoJobState = VolcanoJobState()
    failed: int = 0
    retry_count: int = 0


class VolcanoJob(KubernetesObject, frozen=True):
    api_kind: ClassVar[str] = "Job.batch.volcano.sh"
    spec: VolcanoJobSpec = VolcanoJobSpec()
    status: VolcanoJobStatus = VolcanoJobStatus()
