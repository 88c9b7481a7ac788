"""Kubeflow Trainer's jobs and the runtimes that they name. Source: `trainer.kubeflow.org/v1alpha1`, Trainer 2.3."""

from typing import ClassVar

from collectors.cluster.base import ApiStruct, Condition, KubernetesObject, ResourceRequirements
from collectors.cluster.workloads import ReplicatedJob


class RuntimeRef(ApiStruct, frozen=True):
    name: str = ""
    kind: str = "ClusterTrainingRuntime"


class NodesOfTrainer(ApiStruct, frozen=True):
    """What a job changes of its runtime: how many nodes, and what each requests. None: as the runtime has it."""

    num_nodes: int | None = None
    resources_per_node: ResourceRequirements | None = None


class TrainJobSpec(ApiStruct, frozen=True):
    runtime_ref: RuntimeRef = RuntimeRef()
    trainer: NodesOfTrainer = NodesOfTrainer()
    suspend: bool = False
    managed_by: str = ""


class TrainerStatus(ApiStruct, frozen=True):
    """What the training itself reports about its progress, where it does."""

    progress_percentage: int | None = None
    estimated_remaining_seconds: int | None = None


class TrainJobStatus(ApiStruct, frozen=True):
    conditions: tuple[Condition, ...] | None = None
    trainer_status: TrainerStatus | None = None


class TrainJob(KubernetesObject, frozen=True):
    api_kind: ClassVar[str] = "TrainJob.trainer.kubeflow.org"
    spec: TrainJobSpec = TrainJobSpec()
    status: TrainJobStatus = TrainJobStatus()


class NodesOfRuntime(ApiStruct, frozen=True):
    num_nodes: int | None = None


class RuntimeJobs(ApiStruct, frozen=True):
    replicated_jobs: tuple[ReplicatedJob, ...] | None = None


class RuntimeTemplate(ApiStruct, frozen=True):
    spec: RuntimeJobs = RuntimeJobs()


class TrainingRuntimeSpec(ApiStruct, frozen=True):
    ml_policy: NodesOfRuntime | None = None
    template: RuntimeTemplate = RuntimeTemplate()


class TrainingRuntime(KubernetesObject, frozen=True):
    api_kind: ClassVar[str] = "TrainingRuntime.trainer.kubeflow.org"
    spec: TrainingRuntimeSpec = TrainingRuntimeSpec()


class ClusterTrainingRuntime(KubernetesObject, frozen=True):
    api_kind: ClassVar[str] = "ClusterTrainingRuntime.trainer.kubeflow.org"
    spec: TrainingRuntimeSpec = TrainingRuntimeSpec()
