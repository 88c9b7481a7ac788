"""Trainings as TrainJobs: the JobSet that Trainer makes of the job and its runtime has the roles.

Before it is there, the job and its runtime say what it will be. Source: `trainer.kubeflow.org/v1alpha1`, Trainer 2.3.
"""

from dataclasses import replace
from datetime import timedelta

from collectors.cluster.base import Condition, KubernetesObject
from collectors.cluster.conditions import condition_text, true_condition
from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.indexes import by_owner, is_unowned, workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import (
    CLUSTER_TRAINING_RUNTIMES,
    JOBS,
    JOBSETS,
    TRAINING_RUNTIMES,
    TRAINJOBS,
)
from collectors.cluster.objects import (
    ClusterTrainingRuntime,
    Container,
    JobSet,
    PodSpec,
    TrainingRuntime,
    TrainJob,
)
from collectors.cluster.workloads import ReplicatedJob
from collectors.facts.sentences import sentence
from collectors.trainings.reading_kind import Owned, ReadingKind, RolePods, TrainingPart
from collectors.trainings.replicated_jobs import (
    end_by_jobs,
    jobs_among,
    priority_among,
    replicated_roles,
)
from collectors.trainings.training import TrainingState

TRAINER_ROLE = "node"  # the role that trains, in all runtimes
_DEADLINE = "DeadlineExceeded"  # a limit that its owner set


def trainjob_end(one: TrainJob) -> Condition | None:
    """Return the condition that says that a TrainJob has ended; None while it has not."""
    return true_condition(one.status.conditions, "Failed", "Complete")


def _is_training(one: TrainJob, claims: GpuClaims) -> bool:
    return is_unowned(one) and (one.spec.trainer.resources_per_node is None or bool(_gpus(one, claims)))


def _gpus(one: TrainJob, claims: GpuClaims) -> float:
    """Return the GPUs that it requests for each node by itself."""
    resources = one.spec.trainer.resources_per_node
    if resources is None:
        return 0
    return sum(
        claims.of_spec(PodSpec(containers=(Container(name=TRAINER_ROLE, resources=resources),))).values()
    )


def _owned(one: TrainJob, inventory: Inventory) -> Owned:
    """Return its runtime, its JobSet with Jobs and pods."""
    own = workload_of(one)
    jobsets = inventory.select(JOBSETS, by_owner, own)
    jobs = (job for jobset in jobsets for job in inventory.select(JOBS, by_owner, workload_of(jobset)))
    return (*_runtime(one, inventory), *jobsets, *jobs, *inventory.pods_of(own))


def _runtime(one: TrainJob, inventory: Inventory) -> tuple[KubernetesObject, ...]:
    ref = one.spec.runtime_ref
    found: KubernetesObject | None
    if ref.kind == TRAINING_RUNTIMES.kind:
        found = inventory.all(TRAINING_RUNTIMES).get(f"{one.metadata.namespace}/{ref.name}")
    else:
        found = inventory.all(CLUSTER_TRAINING_RUNTIMES).get(ref.name)
    return (found,) if found is not None else ()


def _part(one: TrainJob, owned: Owned, claims: GpuClaims) -> TrainingPart:
    jobs = jobs_among(owned)
    jobset = next((each for each in owned if isinstance(each, JobSet)), None)
    runtime = next(
        (each for each in owned if isinstance(each, TrainingRuntime | ClusterTrainingRuntime)), None
    )
    roles = (jobset.spec.replicated_jobs or ()) if jobset is not None else ()
    ended, reason = None, ""
    if (finished := trainjob_end(one)) is not None:
        if finished.type == "Complete":
            ended, reason = TrainingState.SUCCEEDED, condition_text(finished)
        elif finished.reason == _DEADLINE:
            ended, reason = TrainingState.STOPPED, condition_text(finished)
        else:
            ended, reason = end_by_jobs(finished, jobs)
    return TrainingPart(
        meta=one.metadata,
        workload=workload_of(one),
        roles=replicated_roles(roles, owned, claims) if roles else _expected(one, runtime, claims),
        ended=ended,
        reason=reason,
        is_suspended=one.spec.suspend,
        restarts=jobset.status.restarts if jobset is not None else 0,
        priority=priority_among(roles or _jobs_of(runtime)),
        progress=_progress(one),
        owned=tuple(workload_of(each) for each in (*((jobset,) if jobset else ()), *jobs)),
        started=min((at for job in jobs if (at := job.status.start_time)), default=None),
        finished=finished.last_transition_time if finished else None,
    )


def _jobs_of(runtime: TrainingRuntime | ClusterTrainingRuntime | None) -> tuple[ReplicatedJob, ...]:
    return (runtime.spec.template.spec.replicated_jobs or ()) if runtime is not None else ()


def _expected(
    one: TrainJob, runtime: TrainingRuntime | ClusterTrainingRuntime | None, claims: GpuClaims
) -> tuple[RolePods, ...]:
    """Return the roles that it will have: what the job leaves open is as in its runtime."""
    policy = runtime.spec.ml_policy if runtime is not None else None
    nodes = one.spec.trainer.num_nodes or (policy.num_nodes if policy is not None else None) or 1
    node = RolePods(role=TRAINER_ROLE, replicas=nodes, gpus=_gpus(one, claims), pods=())
    roles = replicated_roles(_jobs_of(runtime), (), claims)
    if one.spec.trainer.resources_per_node is None:
        node = replace(node, gpus=next((role.gpus for role in roles if role.role == TRAINER_ROLE), 0))
    return (*(role for role in roles if role.role != TRAINER_ROLE), node)


def _progress(one: TrainJob) -> str:
    shown = one.status.trainer_status
    if shown is None or shown.progress_percentage is None:
        return ""
    if (left := shown.estimated_remaining_seconds) is None:
        return sentence("{percent} %", percent=shown.progress_percentage)
    return sentence(
        "{percent} %, {left} to go by its own estimate",
        percent=shown.progress_percentage,
        left=timedelta(seconds=left),
    )


KIND: ReadingKind[TrainJob] = ReadingKind(
    objects=TRAINJOBS,
    summary="a TrainJob that requests GPUs, or leaves that to its runtime, unless it has an owner",
    is_training=_is_training,
    owned=_owned,
    part=_part,
    others=(JOBSETS, JOBS),
    hints=(TRAINING_RUNTIMES, CLUSTER_TRAINING_RUNTIMES),
)
