"""Kueue's Workloads, one for each object that it manages. Source: `kueue.x-k8s.io/v1beta2`, Kueue 0.19."""

from typing import ClassVar

from collectors.cluster.base import ApiStruct, Condition, KubernetesObject


class PriorityClassRef(ApiStruct, frozen=True):
    name: str = ""


class KueueWorkloadSpec(ApiStruct, frozen=True):
    """`active` is false while somebody, or a limit, keeps it from being admitted."""

    active: bool = True
    queue_name: str = ""
    priority: int | None = None
    priority_class_ref: PriorityClassRef | None = None


class KueueWorkloadStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = None


class KueueWorkload(KubernetesObject, frozen=True):
    api_kind: ClassVar[str] = "Workload.kueue.x-k8s.io"
    spec: KueueWorkloadSpec = KueueWorkloadSpec()
    status: KueueWorkloadStatus = KueueWorkloadStatus()
