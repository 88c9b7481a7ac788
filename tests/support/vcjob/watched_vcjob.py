"""Volcano's Job as a watched kind, as its parts in `objects.py` and `kinds.py` would be. Source: Volcano 1.13."""

from typing import ClassVar

from collectors.cluster.base import ApiStruct, Explained, KubernetesObject
from collectors.cluster.indexes import by_namespace, by_owner
from collectors.cluster.kinds import ResourceKind
from collectors.cluster.workloads import PodTemplateSpec


class VolcanoTask(ApiStruct, frozen=True):
    """A role: equal pods."""

    name: str
    replicas: int = 1
    template: PodTemplateSpec = PodTemplateSpec()


class VolcanoJobSpec(ApiStruct, frozen=True):
    tasks: tuple[VolcanoTask, ...] | None = None
    priority_class_name: str = ""


class VolcanoJobState(Explained, frozen=True):
    phase: str = ""


class VolcanoJobStatus(ApiStruct, frozen=True):
    state: VolcanoJobState = VolcanoJobState()


class VolcanoJob(KubernetesObject, frozen=True):
    api_kind: ClassVar[str] = "Job.batch.volcano.sh"

    spec: VolcanoJobSpec = VolcanoJobSpec()
    status: VolcanoJobStatus = VolcanoJobStatus()


VCJOBS = ResourceKind(
    name="jobs.batch.volcano.sh",
    path="/apis/batch.volcano.sh/v1alpha1/jobs",
    type=VolcanoJob,
    indexes=(by_namespace, by_owner),
)
