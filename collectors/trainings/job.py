"""This file reads trainings made of plain Kubernetes: worker Jobs, parameter-server Deployments, a namespace for both.

Two shapes: everything in a namespace that is labelled as a training's own; and any other batch Job that
requests GPUs and that no other kind of training owns. Source: Kubernetes' Job API, batch/v1.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from collectors.cluster.inventory import Inventory, controller_of
from collectors.cluster.objects import Condition, Job, ObjectMeta, Pod, Workload
from collectors.cluster.resources import gpus_requested
from collectors.trainings.ranks import failures_of, index_of, rank_of
from collectors.trainings.training import (
    OWNER_KEYS,
    ROLE_KEYS,
    TEAM_KEYS,
    TRAINING_KEYS,
    Rank,
    Training,
    TrainingKind,
    TrainingState,
    annotation_of,
)

_OWNERS_THAT_STAY_JOBS = ("CronJob",)  # a Job under any other owner belongs to that kind of training
_YES = ("true", "yes", "1", "enabled")
_BESIDE = ("tensorboard", "notebook")  # roles that are no part of the computation
_LAST = datetime.max.replace(tzinfo=UTC)


def read(inventory: Inventory) -> tuple[Training, ...]:
    own = {
        namespace.metadata.name: name if name.lower() not in _YES else namespace.metadata.name
        for namespace in inventory.namespaces.values()
        if (name := annotation_of(namespace.metadata, TRAINING_KEYS))
    }
    trainings = [_in_own_namespace(inventory, namespace, name) for namespace, name in own.items()]
    for job in inventory.jobs.values():
        owner = controller_of(job.metadata)
        is_free = owner is None or owner.kind in _OWNERS_THAT_STAY_JOBS
        if job.metadata.namespace not in own and is_free and gpus_requested(job.spec.template.spec):
            name = annotation_of(job.metadata, TRAINING_KEYS)
            name = job.metadata.name if not name or name.lower() in _YES else name
            trainings.append(_view(inventory, job.metadata.namespace, name, [job], [], [job.metadata]))
    return tuple(trainings)


KIND = TrainingKind(name="Job", needs=("jobs", "namespaces"), read=read)


def _in_own_namespace(inventory: Inventory, namespace: str, name: str) -> Training:
    jobs = [job for job in inventory.jobs.values() if job.metadata.namespace == namespace]
    servers: list[Workload] = [
        one
        for held in (inventory.deployments, inventory.statefulsets)
        for one in held.values()
        if one.metadata.namespace == namespace
    ]
    place = inventory.namespaces[namespace].metadata
    sayers = [*(one.metadata for one in jobs), *(one.metadata for one in servers), place]
    return _view(inventory, namespace, name, jobs, servers, sayers, place=place)


def _view(
    inventory: Inventory,
    namespace: str,
    name: str,
    jobs: list[Job],
    servers: list[Workload],
    sayers: list[ObjectMeta],
    *,
    place: ObjectMeta | None = None,
) -> Training:
    parts: tuple[Job | Workload, ...] = (*jobs, *servers)
    ranks: list[Rank] = []
    failures: list[Rank] = []
    for one in parts:
        role = _role_of(one)
        newest: dict[int, Rank] = {}
        pods = sorted(inventory.pods_of(_name_of(one)), key=_age)
        for number, pod in enumerate(pods):
            rank = rank_of(pod, role, index_of(pod, number))
            newest[rank.index] = rank
            failures.extend(failures_of(pod, rank))
        ranks.extend(newest[index] for index in sorted(newest))
    life, reason = _life(jobs, servers, ranks, place)
    started = [at for one in jobs if (at := one.status.start_time)]
    return Training(
        id=f"{namespace}/{name}",
        kind=KIND.name,
        namespace=namespace,
        name=name,
        owner=_first(sayers, OWNER_KEYS),
        team=_first(sayers, TEAM_KEYS),
        state=life,
        reason=reason,
        ranks=tuple(ranks),
        wanted=sum(_wanted(one) for one in parts),
        gpus_wanted=sum(_wanted(one) * sum(gpus_requested(one.spec.template.spec).values()) for one in parts),
        failures=tuple(sorted(failures, key=lambda rank: rank.finished or _LAST)),
        workloads=tuple(_name_of(one) for one in parts),
        has_namespace=place is not None,
        priority=next((one.spec.template.spec.priority_class_name for one in jobs), ""),
        created=min((at for one in sayers if (at := one.creation_timestamp)), default=None),
        started=min(started, default=None),
        finished=max((at for one in jobs if (at := _ended(one))), default=None) if life.is_over else None,
    )


def _life(
    jobs: list[Job], servers: list[Workload], ranks: list[Rank], place: ObjectMeta | None
) -> tuple[TrainingState, str]:
    """Where it stands and why, decided by what its Jobs say first and by its pods second."""
    if place is not None and place.deletion_timestamp:
        return TrainingState.STOPPED, "its namespace is being deleted"
    if not jobs:
        left = f"; {len(servers)} other workloads are left" if servers else ""
        return TrainingState.STOPPED, f"it has no worker Job{left}"
    for job in jobs:
        for type_ in ("Failed", "FailureTarget"):
            if said := _condition(job, type_):
                was_meant = said.reason == "DeadlineExceeded"  # the longest time that its owner gave it
                return TrainingState.STOPPED if was_meant else TrainingState.FAILED, _sentence(said)
    if all(_condition(job, "Complete") for job in jobs):
        return TrainingState.SUCCEEDED, _sentence(_condition(jobs[0], "Complete"))
    if all(job.metadata.deletion_timestamp for job in jobs):
        return TrainingState.STOPPED, "its Job is being deleted"
    if all(job.spec.suspend for job in jobs):
        return TrainingState.SUSPENDED, "it is suspended"
    counted = [rank for rank in ranks if rank.role not in _BESIDE]
    parts: tuple[Job | Workload, ...] = (*jobs, *servers)
    wanted = sum(_wanted(one) for one in parts if _role_of(one) not in _BESIDE)
    running = [rank for rank in counted if rank.phase in ("Running", "Succeeded") and not rank.reason]
    if len(running) >= wanted:
        return TrainingState.RUNNING, ""
    stuck = next((rank for rank in counted if rank.reason), None)
    reason = f"{len(running)} of {wanted} ranks run"
    if stuck:
        reason += (
            f"; {stuck.role} {stuck.index} is {stuck.reason}: {stuck.explanation}"
            if stuck.explanation
            else stuck.reason
        )
    is_placed = any(rank.node for rank in counted)
    return (TrainingState.STARTING if is_placed else TrainingState.QUEUED), reason


def _wanted(one: Job | Workload) -> int:
    if isinstance(one, Job):
        parallel = 1 if one.spec.parallelism is None else one.spec.parallelism
        return parallel if one.spec.completions is None else min(parallel, one.spec.completions)
    return 1 if one.spec.replicas is None else one.spec.replicas


def _role_of(one: Job | Workload) -> str:
    """As the object says; else a Job's pods are workers and a server that is no side show is a parameter server."""
    if said := annotation_of(one.metadata, ROLE_KEYS):
        return said
    if isinstance(one, Job):
        return "worker"
    return next((role for role in _BESIDE if role in one.metadata.name), "ps")


def _name_of(one: Job | Workload) -> str:
    return f"{one.metadata.namespace}/{type(one).__name__}/{one.metadata.name}"


def _condition(job: Job, type_: str) -> Condition | None:
    return next(
        (one for one in job.status.conditions or () if one.type == type_ and one.status == "True"), None
    )


def _sentence(said: Condition | None) -> str:
    return ": ".join(part for part in (said.reason, said.message) if part) if said else ""


def _ended(job: Job) -> datetime | None:
    said = _condition(job, "Failed") or _condition(job, "Complete")
    return job.status.completion_time or (said.last_transition_time if said else None)


def _age(pod: Pod) -> tuple[datetime, str]:
    return pod.metadata.creation_timestamp or _LAST, pod.metadata.name


def _first(sayers: Iterable[ObjectMeta], keys: tuple[str, ...]) -> str:
    return next((said for one in sayers if (said := annotation_of(one, keys))), "")
