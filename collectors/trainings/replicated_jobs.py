"""The replicated Jobs of a JobSet as roles, whoever made it. Source: `jobset.x-k8s.io/v1alpha2`, JobSet 0.12."""

import re
from collections import defaultdict

from collectors.cluster.base import Condition
from collectors.cluster.conditions import condition_text
from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.indexes import controller_of
from collectors.cluster.objects import Job, Pod
from collectors.cluster.workloads import ReplicatedJob
from collectors.facts.sentences import sentence
from collectors.trainings.job import job_end
from collectors.trainings.ranks import pods_by_index
from collectors.trainings.reading_kind import Owned, RolePods
from collectors.trainings.training import TrainingState

_ROLE, _JOB = "jobset.sigs.k8s.io/replicatedjob-name", "jobset.sigs.k8s.io/job-index"
_NUMBER = re.compile(r"[0-9]{1,9}")


def jobs_among(owned: Owned) -> tuple[Job, ...]:
    return tuple(one for one in owned if isinstance(one, Job))


def replicated_roles(
    roles: tuple[ReplicatedJob, ...], owned: Owned, claims: GpuClaims
) -> tuple[RolePods, ...]:
    """Return the roles with their pods, which are among the owned objects with the Jobs that own them."""
    jobs = {one.metadata.name: one for one in jobs_among(owned)}
    pods: dict[str, list[Pod]] = defaultdict(list)  # by role
    for one in owned:
        if isinstance(one, Pod) and (owner := controller_of(one)) and (job := jobs.get(owner.name)):
            pods[_label(job, _ROLE)].append(one)
    return tuple(_role(role, pods[role.name], claims) for role in roles)


def _role(role: ReplicatedJob, pods: list[Pod], claims: GpuClaims) -> RolePods:
    """Read one role. Its tasks are numbered through all of its Jobs, each of which has room for every pod it has."""
    spec = role.template.spec
    of_each = spec.parallel_tasks
    by_job: dict[int, list[Pod]] = defaultdict(list)
    for pod in pods:
        number = _NUMBER.fullmatch(_label(pod, _JOB))
        by_job[int(number[0]) if number else 0].append(pod)
    indexed = [(job, index, pod) for job in sorted(by_job) for index, pod in pods_by_index(by_job[job])]
    room = max((spec.completions or of_each, *(index + 1 for _, index, _ in indexed)))
    numbered = tuple((job * room + index, pod) for job, index, pod in indexed)
    return RolePods(
        role=role.name, replicas=role.replicas * of_each, gpus=gpus_of_role(role, claims), pods=numbered
    )


def end_by_jobs(condition: Condition, jobs: tuple[Job, ...]) -> tuple[TrainingState, str]:
    """Return how it has failed, and why: in the words of the Job that failed, if that is still there."""
    ends = [job_end(job) for job in jobs]
    for state in (TrainingState.STOPPED, TrainingState.FAILED):
        if reason := next((reason for ended, reason in ends if ended is state), ""):
            return state, sentence("{reason} ({condition})", reason=reason, condition=condition.reason or "")
    return TrainingState.FAILED, condition_text(condition)


def gpus_of_role(role: ReplicatedJob, claims: GpuClaims) -> float:
    """Return the GPUs that each task of it requests."""
    return sum(claims.of_spec(role.template.spec.template.spec).values())


def priority_among(roles: tuple[ReplicatedJob, ...]) -> str:
    """Return the priority class of the first that has one."""
    classes = (role.template.spec.template.spec.priority_class_name for role in roles)
    return next(filter(None, classes), "")


def _label(one: Job | Pod, key: str) -> str:
    return (one.metadata.labels or {}).get(key, "")
