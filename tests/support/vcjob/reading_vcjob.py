"""Trainings as Jobs of Volcano: each task is a role, and the Job owns its pods itself. Source: Volcano 1.13."""

from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.indexes import workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Pod
from collectors.trainings.reading_kind import Owned, ReadingKind, RolePods, TrainingPart, is_unowned
from collectors.trainings.training import TrainingState
from tests.support.vcjob.watched_vcjob import VCJOBS, VolcanoJob, VolcanoTask

ROLE, INDEX = "volcano.sh/task-spec", "volcano.sh/task-index"  # annotations of its pods
_ENDS = {
    "Completed": TrainingState.SUCCEEDED,
    "Failed": TrainingState.FAILED,
    "Aborted": TrainingState.STOPPED,
    "Terminated": TrainingState.STOPPED,
}


def job_end(one: VolcanoJob) -> TrainingState | None:
    """Return how it has ended; None while it has not."""
    return _ENDS.get(one.status.state.phase)


def _is_training(one: VolcanoJob, claims: GpuClaims) -> bool:
    return is_unowned(one) and any(_gpus(task, claims) for task in one.spec.tasks or ())


def _pods(one: VolcanoJob, inventory: Inventory) -> Owned:
    return inventory.pods_of(workload_of(one))


def _part(one: VolcanoJob, pods: Owned, claims: GpuClaims) -> TrainingPart:
    return TrainingPart(
        meta=one.metadata,
        workload=workload_of(one),
        roles=tuple(_role(task, pods, claims) for task in one.spec.tasks or ()),
        ended=job_end(one),
        reason=one.status.state.message,
        priority=one.spec.priority_class_name,
    )


def _role(task: VolcanoTask, pods: Owned, claims: GpuClaims) -> RolePods:
    numbered = [
        (int(notes.get(INDEX) or 0), pod)
        for pod in pods
        if isinstance(pod, Pod) and (notes := pod.metadata.annotations or {}).get(ROLE) == task.name
    ]
    return RolePods(
        role=task.name,
        replicas=task.replicas,
        gpus=_gpus(task, claims),
        pods=tuple(sorted(numbered, key=lambda one: one[0])),
    )


def _gpus(task: VolcanoTask, claims: GpuClaims) -> float:
    return sum(claims.of_spec(task.template.spec).values())


KIND: ReadingKind[VolcanoJob] = ReadingKind(
    objects=VCJOBS,
    summary="a Job of Volcano that requests GPUs, unless it has an owner",
    is_training=_is_training,
    owned=_pods,
    part=_part,
)
