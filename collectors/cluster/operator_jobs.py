"""Kubeflow's jobs of equal shape: TFJob, PyTorchJob and MPIJob.

Source: `kubeflow.org/v1`, Training Operator 1.9; of the second MPIJob, `kubeflow.org/v2beta1`, MPI operator 0.8.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import ClassVar

from collectors.cluster.base import ApiStruct, Condition, KubernetesObject
from collectors.cluster.workloads import PodTemplateSpec


class ReplicaSpec(ApiStruct, frozen=True):
    """A role: equal pods. The operator takes an absent number for 1."""

    replicas: int | None = None
    template: PodTemplateSpec = PodTemplateSpec()

    @property
    def count(self) -> int:
        return 1 if self.replicas is None else self.replicas


ReplicaSpecs = dict[str, ReplicaSpec]


class SchedulingPolicy(ApiStruct, frozen=True):
    """What the operator writes into the PodGroup of a gang, if it runs with a gang scheduler."""

    queue: str = ""
    priority_class: str = ""


class RunPolicy(ApiStruct, frozen=True):
    """`clean_pod_policy`: which pods end with the job; the operator takes an absent one for None."""

    suspend: bool = False
    clean_pod_policy: str = ""
    managed_by: str = ""
    active_deadline_seconds: int | None = None
    scheduling_policy: SchedulingPolicy | None = None


class ElasticPolicy(ApiStruct, frozen=True):
    """How many tasks are enough, and how many there may be: `torchrun` begins again when their number changes."""

    min_replicas: int | None = None
    max_replicas: int | None = None


class OperatorJobStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = None
    start_time: datetime | None = None
    completion_time: datetime | None = None


class OperatorJobSpec(ApiStruct, frozen=True):
    run_policy: RunPolicy = RunPolicy()

    @property
    def roles(self) -> Mapping[str, ReplicaSpec]:
        """The roles by their names in the API: `Worker`, `PS`."""
        return MappingProxyType({})

    @property
    def least(self) -> int | None:
        """How many tasks are enough, of an elastic job."""
        return None


class OperatorJob(KubernetesObject, frozen=True):
    """Any of them."""

    spec: OperatorJobSpec = OperatorJobSpec()
    status: OperatorJobStatus = OperatorJobStatus()


class PyTorchJobSpec(OperatorJobSpec, frozen=True):
    pytorch_replica_specs: ReplicaSpecs | None = None
    elastic_policy: ElasticPolicy | None = None

    @property
    def roles(self) -> Mapping[str, ReplicaSpec]:
        return self.pytorch_replica_specs or {}

    @property
    def least(self) -> int | None:
        return self.elastic_policy.min_replicas if self.elastic_policy is not None else None


class PyTorchJob(OperatorJob, frozen=True):
    api_kind: ClassVar[str] = "PyTorchJob.kubeflow.org"
    spec: PyTorchJobSpec = PyTorchJobSpec()


class TFJobSpec(OperatorJobSpec, frozen=True):
    tf_replica_specs: ReplicaSpecs | None = None

    @property
    def roles(self) -> Mapping[str, ReplicaSpec]:
        return self.tf_replica_specs or {}


class TFJob(OperatorJob, frozen=True):
    api_kind: ClassVar[str] = "TFJob.kubeflow.org"
    spec: TFJobSpec = TFJobSpec()


class MPIJobSpec(OperatorJobSpec, frozen=True):
    mpi_replica_specs: ReplicaSpecs | None = None

    @property
    def roles(self) -> Mapping[str, ReplicaSpec]:
        return self.mpi_replica_specs or {}


class MPIJob(OperatorJob, frozen=True):
    api_kind: ClassVar[str] = "MPIJob.kubeflow.org"
    spec: MPIJobSpec = MPIJobSpec()


class MPIJobOfMPIOperator(OperatorJob, frozen=True):
    """The MPI operator's own, of the same kind and group: a cluster serves this one or the other."""

    api_kind: ClassVar[str] = "MPIJob.v2beta1.kubeflow.org"
    spec: MPIJobSpec = MPIJobSpec()
