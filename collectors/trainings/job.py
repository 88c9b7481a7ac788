"""Trainings as plain Jobs. Source: Kubernetes' Job API, batch/v1."""

from datetime import datetime

from collectors.cluster.conditions import condition_text, true_condition
from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.indexes import is_unowned, workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import JOBS
from collectors.cluster.objects import Job
from collectors.trainings.ranks import pods_by_index
from collectors.trainings.reading_kind import Owned, ReadingKind, RolePods, TrainingPart
from collectors.trainings.retries import job_retries
from collectors.trainings.training import ROLE_KEYS, TrainingState, annotation_of

_OWNERS_THAT_STAY_JOBS = ("CronJob",)  # a Job with any other owner belongs to that kind of training
_INTENDED = "DeadlineExceeded"  # a limit that its owner set


def _is_training(job: Job, claims: GpuClaims) -> bool:
    return is_unowned(job, *_OWNERS_THAT_STAY_JOBS) and bool(claims.of_spec(job.spec.template.spec))


def _pods(job: Job, inventory: Inventory) -> Owned:
    return inventory.pods_of(workload_of(job))


def _part(job: Job, pods: Owned, claims: GpuClaims) -> TrainingPart:
    tasks = RolePods(
        role=annotation_of(job.metadata, ROLE_KEYS) or "worker",
        replicas=job.spec.parallel_tasks,
        gpus=sum(claims.of_spec(job.spec.template.spec).values()),
        pods=pods_by_index(pods),
    )
    ended, reason = job_end(job)
    return TrainingPart(
        meta=job.metadata,
        workload=workload_of(job),
        roles=(tasks,),
        ended=ended,
        reason=reason,
        is_suspended=job.spec.suspend,
        retries=job_retries(job),
        priority=job.spec.template.spec.priority_class_name,
        started=job.status.start_time,
        finished=_finished(job),
        limit=job.spec.active_deadline_seconds,
    )


def job_end(job: Job) -> tuple[TrainingState | None, str]:
    """Return how a Job has ended, and why; None while it has not. A failure that is certain is an end."""
    for type_ in ("Failed", "FailureTarget"):
        if condition := true_condition(job.status.conditions, type_):
            is_intended = condition.reason == _INTENDED
            return TrainingState.STOPPED if is_intended else TrainingState.FAILED, condition_text(condition)
    if condition := true_condition(job.status.conditions, "Complete"):
        return TrainingState.SUCCEEDED, condition_text(condition)
    return None, ""


def _finished(job: Job) -> datetime | None:
    condition = true_condition(job.status.conditions, "Failed", "Complete")
    return job.status.completion_time or (condition.last_transition_time if condition else None)


KIND = ReadingKind(
    objects=JOBS,
    summary="a Job that requests GPUs, unless it has an owner other than a CronJob",
    is_training=_is_training,
    owned=_pods,
    part=_part,
)
