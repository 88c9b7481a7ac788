"""Kueue's Workloads, one for each object that it manages. Source: `kueue.x-k8s.io/v1beta2`, Kueue 0.19."""

from datetime import datetime
from typing import ClassVar

from collectors.cluster.base import ApiStruct, Condition, Explained, KubernetesObject


class PriorityClassRef(ApiStruct, frozen=True):
    name: str = ""


class KueueWorkloadSpec(ApiStruct, frozen=True):
    """`active` is false while somebody, or a limit, keeps it from being admitted."""

    active: bool = True
    queue_name: str = ""
    priority: int | None = None
    priority_class_ref: PriorityClassRef | None = None
    maximum_execution_time_seconds: int | None = None


class AdmissionCheckState(Explained, frozen=True):
    """What a check has decided: `state` is Pending, Ready, Retry or Rejected."""

    name: str = ""
    state: str = ""


class RequeueState(ApiStruct, frozen=True):
    """How often it was taken back, and when it is tried again."""

    count: int = 0
    requeue_at: datetime | None = None


class PodSetAssignment(ApiStruct, frozen=True):
    """What the pods of one template have: the flavor of each resource, and how much of it in all."""

    flavors: dict[str, str] | None = None
    resource_usage: dict[str, str] | None = None


class Admission(ApiStruct, frozen=True):
    """The quota that is reserved for it, from then on until it is over or taken back."""

    cluster_queue: str = ""
    pod_set_assignments: tuple[PodSetAssignment, ...] | None = None


class KueueWorkloadStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = None
    admission_checks: tuple[AdmissionCheckState, ...] | None = None
    requeue_state: RequeueState | None = None
    admission: Admission | None = None


class KueueWorkload(KubernetesObject, frozen=True):
    api_kind: ClassVar[str] = "Workload.kueue.x-k8s.io"
    spec: KueueWorkloadSpec = KueueWorkloadSpec()
    status: KueueWorkloadStatus = KueueWorkloadStatus()
