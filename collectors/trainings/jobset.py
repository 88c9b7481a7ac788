"""Trainings as JobSets: each replicated Job is a role. Source: `jobset.x-k8s.io/v1alpha2`, JobSet 0.12."""

from collectors.cluster.base import Condition
from collectors.cluster.conditions import condition_text, true_condition
from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.indexes import by_owner, is_unowned, workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import JOBS, JOBSETS
from collectors.cluster.objects import Job, JobSet
from collectors.trainings.reading_kind import Owned, ReadingKind, TrainingPart
from collectors.trainings.replicated_jobs import (
    end_by_jobs,
    gpus_of_role,
    jobs_among,
    priority_among,
    replicated_roles,
)
from collectors.trainings.retries import jobset_retries
from collectors.trainings.training import TrainingState


def _is_training(jobset: JobSet, claims: GpuClaims) -> bool:
    return is_unowned(jobset) and any(
        gpus_of_role(role, claims) for role in jobset.spec.replicated_jobs or ()
    )


def _jobs_and_pods(jobset: JobSet, inventory: Inventory) -> Owned:
    own = workload_of(jobset)
    return (*inventory.select(JOBS, by_owner, own), *inventory.pods_of(own))


def _part(jobset: JobSet, owned: Owned, claims: GpuClaims) -> TrainingPart:
    jobs = jobs_among(owned)
    ended, reason = _end(jobset, jobs)
    finished = jobset_end(jobset)
    roles = jobset.spec.replicated_jobs or ()
    return TrainingPart(
        meta=jobset.metadata,
        workload=workload_of(jobset),
        roles=replicated_roles(roles, owned, claims),
        ended=ended,
        reason=reason,
        is_suspended=jobset.spec.suspend,
        restarts=jobset.status.restarts,
        retries=jobset_retries(jobset, jobs),
        priority=priority_among(roles),
        owned=tuple(workload_of(job) for job in jobs),
        started=min((at for job in jobs if (at := job.status.start_time)), default=None),
        finished=finished.last_transition_time if finished else None,
    )


def jobset_end(jobset: JobSet) -> Condition | None:
    """Return the condition that says that a JobSet has ended; None while it has not."""
    return true_condition(jobset.status.conditions, "Failed", "Completed")


def _end(jobset: JobSet, jobs: tuple[Job, ...]) -> tuple[TrainingState | None, str]:
    condition = jobset_end(jobset)
    if condition is None:
        return None, ""
    if condition.type == "Failed":
        return end_by_jobs(condition, jobs)
    return TrainingState.SUCCEEDED, condition_text(condition)


KIND = ReadingKind(
    objects=JOBSETS,
    summary="a JobSet that requests GPUs, unless it has an owner",
    is_training=_is_training,
    owned=_jobs_and_pods,
    part=_part,
    others=(JOBS,),
)
