"""Trainings as JobSets: each replicated Job is a role. Source: `jobset.x-k8s.io/v1alpha2`, JobSet 0.12."""

import re
from collections import defaultdict

from collectors.cluster.base import Condition
from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.indexes import by_owner, controller_of, workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import JOBS, JOBSETS
from collectors.cluster.objects import Job, JobSet, Pod
from collectors.cluster.workloads import ReplicatedJob
from collectors.facts.sentences import sentence
from collectors.trainings.job import job_end
from collectors.trainings.ranks import pods_by_index
from collectors.trainings.reading_kind import (
    Owned,
    ReadingKind,
    RolePods,
    TrainingPart,
    condition_text,
    is_unowned,
    parallel_tasks,
    true_condition,
)
from collectors.trainings.retries import jobset_retries
from collectors.trainings.training import TrainingState

_ROLE, _JOB = "jobset.sigs.k8s.io/replicatedjob-name", "jobset.sigs.k8s.io/job-index"
_NUMBER = re.compile(r"[0-9]{1,9}")


def _is_training(jobset: JobSet, claims: GpuClaims) -> bool:
    return is_unowned(jobset) and any(_gpus(role, claims) for role in jobset.spec.replicated_jobs or ())


def _jobs_and_pods(jobset: JobSet, inventory: Inventory) -> Owned:
    own = workload_of(jobset)
    return (*inventory.select(JOBS, by_owner, own), *inventory.pods_of(own))


def _part(jobset: JobSet, owned: Owned, claims: GpuClaims) -> TrainingPart:
    jobs = {one.metadata.name: one for one in owned if isinstance(one, Job)}
    pods: dict[str, list[Pod]] = defaultdict(list)  # by role
    for one in owned:
        if isinstance(one, Pod) and (owner := controller_of(one)) and (job := jobs.get(owner.name)):
            pods[_label(job, _ROLE)].append(one)
    ended, reason = _end(jobset, tuple(jobs.values()))
    finished = jobset_end(jobset)
    roles = jobset.spec.replicated_jobs or ()
    return TrainingPart(
        meta=jobset.metadata,
        workload=workload_of(jobset),
        roles=tuple(_role(role, pods[role.name], claims) for role in roles),
        ended=ended,
        reason=reason,
        is_suspended=jobset.spec.suspend,
        restarts=jobset.status.restarts,
        retries=jobset_retries(jobset, jobs.values()),
        priority=next((name for role in roles if (name := _priority(role))), ""),
        owned=tuple(workload_of(job) for job in jobs.values()),
        started=min((at for job in jobs.values() if (at := job.status.start_time)), default=None),
        finished=finished.last_transition_time if finished else None,
    )


def _role(role: ReplicatedJob, pods: list[Pod], claims: GpuClaims) -> RolePods:
    """Read one role. Its tasks are numbered through all of its Jobs, each of which has room for every pod it has."""
    spec = role.template.spec
    of_each = parallel_tasks(spec)
    by_job: dict[int, list[Pod]] = defaultdict(list)
    for pod in pods:
        number = _NUMBER.fullmatch(_label(pod, _JOB))
        by_job[int(number[0]) if number else 0].append(pod)
    indexed = [(job, index, pod) for job in sorted(by_job) for index, pod in pods_by_index(by_job[job])]
    room = max((spec.completions or of_each, *(index + 1 for _, index, _ in indexed)))
    numbered = tuple((job * room + index, pod) for job, index, pod in indexed)
    return RolePods(role=role.name, replicas=role.replicas * of_each, gpus=_gpus(role, claims), pods=numbered)


def jobset_end(jobset: JobSet) -> Condition | None:
    """Return the condition that says that a JobSet has ended; None while it has not."""
    return true_condition(jobset.status.conditions, "Failed", "Completed")


def _end(jobset: JobSet, jobs: tuple[Job, ...]) -> tuple[TrainingState | None, str]:
    """Return how it has ended, and why: in the words of the Job that failed, if that is still there."""
    condition = jobset_end(jobset)
    if condition is None:
        return None, ""
    if condition.type == "Failed":
        ends = [job_end(job) for job in jobs]
        for state in (TrainingState.STOPPED, TrainingState.FAILED):
            if reason := next((reason for ended, reason in ends if ended is state), ""):
                return state, sentence(
                    "{reason} ({condition})", reason=reason, condition=condition.reason or ""
                )
        return TrainingState.FAILED, condition_text(condition)
    return TrainingState.SUCCEEDED, condition_text(condition)


def _gpus(role: ReplicatedJob, claims: GpuClaims) -> float:
    return sum(claims.of_spec(role.template.spec.template.spec).values())


def _priority(role: ReplicatedJob) -> str:
    return role.template.spec.template.spec.priority_class_name


def _label(one: Job | Pod, key: str) -> str:
    return (one.metadata.labels or {}).get(key, "")


KIND = ReadingKind(
    objects=JOBSETS,
    summary="a JobSet that requests GPUs, unless it has an owner",
    is_training=_is_training,
    owned=_jobs_and_pods,
    part=_part,
    others=(JOBS,),
)
