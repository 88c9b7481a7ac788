"""Trainings as Jobs of Volcano: each task is a role, and the Job owns its pods itself. Source: Volcano 1.15."""

from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.indexes import is_unowned, workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import VCJOBS
from collectors.cluster.objects import Pod, VolcanoJob
from collectors.cluster.volcano_jobs import VolcanoTask
from collectors.facts.sentences import counted, listed
from collectors.trainings.reading_kind import Owned, ReadingKind, RolePods, TrainingPart
from collectors.trainings.training import TrainingState

TASK, TASK_NUMBER = "volcano.sh/task-spec", "volcano.sh/task-index"  # annotations of its pods
HELD = ("Aborting", "Aborted")  # phases of one that is suspended: it may be resumed
_ENDS = {
    "Completed": TrainingState.SUCCEEDED,
    "Failed": TrainingState.FAILED,
    "Terminated": TrainingState.STOPPED,
}


def vcjob_end(one: VolcanoJob) -> tuple[TrainingState | None, str]:
    """Return how it has ended, and why; None while it has not.

    One that its own policy ended because a task failed has failed; one that somebody ended was stopped.
    """
    state = one.status.state
    ended = _ENDS.get(state.phase)
    reason = listed(filter(None, (state.reason, state.message)), ":")
    if ended is TrainingState.STOPPED and one.status.failed:
        failed = counted("{count} task has failed", "{count} tasks have failed", count=one.status.failed)
        return TrainingState.FAILED, listed(filter(None, (reason, failed)), ":")
    return ended, reason or state.phase if ended else ""


def _is_training(one: VolcanoJob, claims: GpuClaims) -> bool:
    return is_unowned(one) and any(_gpus(task, claims) for task in one.spec.tasks or ())


def _pods(one: VolcanoJob, inventory: Inventory) -> Owned:
    return inventory.pods_of(workload_of(one))


def _part(one: VolcanoJob, pods: Owned, claims: GpuClaims) -> TrainingPart:
    ended, reason = vcjob_end(one)
    return TrainingPart(
        meta=one.metadata,
        workload=workload_of(one),
        roles=tuple(_role(one, task, pods, claims) for task in one.spec.tasks or ()),
        ended=ended,
        reason=reason,
        is_suspended=one.status.state.phase in HELD,
        restarts=one.status.retry_count,
        priority=one.spec.priority_class_name,
        queue=one.spec.queue,
    )


def _role(one: VolcanoJob, task: VolcanoTask, pods: Owned, claims: GpuClaims) -> RolePods:
    numbered = [
        (int(number) if (number := notes.get(TASK_NUMBER, "")).isdecimal() else otherwise, pod)
        for otherwise, pod in enumerate(pods)
        if isinstance(pod, Pod) and (notes := pod.metadata.annotations or {}).get(TASK) == task.name
    ]
    return RolePods(
        role=task.name,
        replicas=task.replicas,
        gpus=_gpus(task, claims),
        pods=tuple(sorted(numbered, key=lambda one: one[0])),
        least=_least(one, task),
    )


def _least(one: VolcanoJob, task: VolcanoTask) -> int | None:
    """Return how many pods of a task the gang needs. Its only task may leave that to the gang."""
    if task.min_available is not None:
        return task.min_available
    return one.spec.min_available or None if len(one.spec.tasks or ()) == 1 else None


def _gpus(task: VolcanoTask, claims: GpuClaims) -> float:
    return sum(claims.of_spec(task.template.spec).values())


KIND: ReadingKind[VolcanoJob] = ReadingKind(
    objects=VCJOBS,
    typed="vcjob",
    summary="a Job of Volcano that requests GPUs, unless it has an owner",
    is_training=_is_training,
    owned=_pods,
    part=_part,
)
