"""Trainings made of plain Kubernetes objects: worker Jobs and parameter-server Deployments or StatefulSets.

There are two forms: everything in a namespace labelled as a training; and any other batch Job that requests GPUs and is
not owned by another kind of training. Source: Kubernetes' Job API, batch/v1.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from collectors.cluster.indexes import by_namespace, controller_of, workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEPLOYMENTS, JOBS, NAMESPACES, STATEFULSETS
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

_OWNERS_THAT_STAY_JOBS = ("CronJob",)  # a Job with any other owner belongs to that kind of training
_YES = ("true", "yes", "1", "enabled")
_AUXILIARY = ("tensorboard", "notebook")  # roles that do not take part in the computation
_LAST = datetime.max.replace(tzinfo=UTC)


def read(inventory: Inventory) -> Iterator[Training]:
    own = {
        namespace.metadata.name
        for namespace in inventory.all(NAMESPACES).values()
        if annotation_of(namespace.metadata, TRAINING_KEYS)
    }
    for namespace in own:
        yield _in_own_namespace(inventory, namespace)
    for key, job in inventory.all(JOBS).items():
        is_training = inventory.memo.get(("is training", key), (job,), partial(_is_training, job))
        if is_training and job.metadata.namespace not in own:
            yield _kept(inventory, _Parts(meta=job.metadata, jobs=(job,)))


KIND = TrainingKind(name="Job", needs=(JOBS, NAMESPACES), read=read)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What a training is made of. `meta`: its own namespace, or its only Job."""

    meta: ObjectMeta
    jobs: tuple[Job, ...]
    servers: tuple[Workload, ...] = ()
    has_namespace: bool = False

    @property
    def all(self) -> tuple[Job | Workload, ...]:
        return (*self.jobs, *self.servers)


def _is_training(job: Job) -> bool:
    owner = controller_of(job)
    is_unowned = owner is None or owner.kind in _OWNERS_THAT_STAY_JOBS
    return is_unowned and bool(gpus_requested(job.spec.template.spec))


def _in_own_namespace(inventory: Inventory, namespace: str) -> Training:
    jobs = inventory.select(JOBS, by_namespace, namespace)
    servers: tuple[Workload, ...] = (
        *inventory.select(DEPLOYMENTS, by_namespace, namespace),
        *inventory.select(STATEFULSETS, by_namespace, namespace),
    )
    own = inventory.all(NAMESPACES)[namespace].metadata
    return _kept(inventory, _Parts(meta=own, jobs=jobs, servers=servers, has_namespace=True))


def _kept(inventory: Inventory, parts: _Parts) -> Training:
    """Return the training, read anew only when one of its objects has changed."""
    pods = tuple(inventory.pods_of(workload_of(one)) for one in parts.all)
    objects = (parts.meta, *parts.all, *(pod for of_one in pods for pod in of_one))
    key = ("training", parts.meta.namespace, parts.meta.name)
    return inventory.memo.get(key, objects, lambda: _training(parts, pods))


def _training(parts: _Parts, pods_of: tuple[tuple[Pod, ...], ...]) -> Training:
    """Read one training. `pods_of` gives the pods of each of its workloads."""
    jobs, own = parts.jobs, parts.meta
    name = annotation_of(own, TRAINING_KEYS)
    name = own.name if not name or name.lower() in _YES else name
    namespace = own.name if parts.has_namespace else own.namespace
    metas = (*(one.metadata for one in parts.all), own)
    ranks: list[Rank] = []
    failures: list[Rank] = []
    for one, pods in zip(parts.all, pods_of, strict=True):
        role = _role_of(one)
        newest: dict[int, Rank] = {}
        for number, pod in enumerate(sorted(pods, key=_age)):
            rank = rank_of(pod, role, index_of(pod, number))
            newest[rank.index] = rank
            failures.extend(failures_of(pod, rank))
        ranks.extend(newest[index] for index in sorted(newest))
    state, reason = _state(parts, ranks)
    started = [at for one in jobs if (at := one.status.start_time)]
    return Training(
        id=f"{namespace}/{name}",
        kind=KIND.name,
        namespace=namespace,
        name=name,
        owner=_first(metas, OWNER_KEYS),
        team=_first(metas, TEAM_KEYS),
        state=state,
        reason=reason,
        ranks=tuple(ranks),
        wanted=sum(_wanted(one) for one in parts.all),
        gpus_wanted=sum(
            _wanted(one) * sum(gpus_requested(one.spec.template.spec).values()) for one in parts.all
        ),
        failures=tuple(sorted(failures, key=lambda rank: rank.finished or _LAST)),
        workloads=tuple(workload_of(one) for one in parts.all),
        has_namespace=parts.has_namespace,
        priority=next((one.spec.template.spec.priority_class_name for one in jobs), ""),
        created=min((at for one in metas if (at := one.creation_timestamp)), default=None),
        started=min(started, default=None),
        finished=max((at for one in jobs if (at := _ended(one))), default=None) if state.is_over else None,
    )


def _state(parts: _Parts, ranks: list[Rank]) -> tuple[TrainingState, str]:
    """Return the state and the reason, from its Jobs first and its pods second."""
    jobs, servers = parts.jobs, parts.servers
    if parts.has_namespace and parts.meta.deletion_timestamp:
        return TrainingState.STOPPED, "its namespace is being deleted"
    if not jobs:
        others = f"; {len(servers)} other workloads remain" if servers else ""
        return TrainingState.STOPPED, f"it has no worker Job{others}"
    for job in jobs:
        for type_ in ("Failed", "FailureTarget"):
            if condition := _condition(job, type_):
                is_intended = condition.reason == "DeadlineExceeded"  # a limit that its owner set
                return TrainingState.STOPPED if is_intended else TrainingState.FAILED, _text(condition)
    if all(_condition(job, "Complete") for job in jobs):
        return TrainingState.SUCCEEDED, _text(_condition(jobs[0], "Complete"))
    if all(job.metadata.deletion_timestamp for job in jobs):
        return TrainingState.STOPPED, "its Job is being deleted"
    if all(job.spec.suspend for job in jobs):
        return TrainingState.SUSPENDED, "it is suspended"
    counted = [rank for rank in ranks if rank.role not in _AUXILIARY]
    wanted = sum(_wanted(one) for one in parts.all if _role_of(one) not in _AUXILIARY)
    running = [rank for rank in counted if rank.phase in ("Running", "Succeeded") and not rank.reason]
    if len(running) >= wanted:
        return TrainingState.RUNNING, ""
    stuck = next((rank for rank in counted if rank.reason), None)
    reason = f"{len(running)} of {wanted} ranks are running"
    if stuck:
        explanation = f": {stuck.explanation}" if stuck.explanation else ""
        reason += f"; {stuck.role} {stuck.index} is {stuck.reason}{explanation}"
    is_placed = any(rank.node for rank in counted)
    return (TrainingState.STARTING if is_placed else TrainingState.QUEUED), reason


def _wanted(one: Job | Workload) -> int:
    if isinstance(one, Job):
        parallel = 1 if one.spec.parallelism is None else one.spec.parallelism
        return parallel if one.spec.completions is None else min(parallel, one.spec.completions)
    return 1 if one.spec.replicas is None else one.spec.replicas


def _role_of(one: Job | Workload) -> str:
    """Return the annotated role; else `worker` for a Job, and `ps` for a server that is not auxiliary by its name."""
    if role := annotation_of(one.metadata, ROLE_KEYS):
        return role
    if isinstance(one, Job):
        return "worker"
    return next((role for role in _AUXILIARY if role in one.metadata.name), "ps")


def _condition(job: Job, type_: str) -> Condition | None:
    return next(
        (one for one in job.status.conditions or () if one.type == type_ and one.status == "True"), None
    )


def _text(condition: Condition | None) -> str:
    return ": ".join(part for part in (condition.reason, condition.message) if part) if condition else ""


def _ended(job: Job) -> datetime | None:
    condition = _condition(job, "Failed") or _condition(job, "Complete")
    return job.status.completion_time or (condition.last_transition_time if condition else None)


def _age(pod: Pod) -> tuple[datetime, str]:
    return pod.metadata.creation_timestamp or _LAST, pod.metadata.name


def _first(metas: Iterable[ObjectMeta], keys: tuple[str, ...]) -> str:
    return next((value for one in metas if (value := annotation_of(one, keys))), "")
