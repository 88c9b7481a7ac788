"""Trainings, composed of what the kinds read: one of each top object, or of all in a namespace of its own. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from collectors.cluster.base import KubernetesObject, ObjectMeta
from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.indexes import by_managed, by_namespace, controller_of, kind_of, owner_of, workload_of
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEPLOYMENTS, KUEUE_WORKLOADS, NAMESPACES, STATEFULSETS
from collectors.cluster.kueue_workloads import KueueWorkload
from collectors.cluster.objects import Workload
from collectors.facts.sentences import counted, listed, sentence
from collectors.facts.workload_keys import shown_kind, workload_key
from collectors.trainings.other_tools import tool_of
from collectors.trainings.queueing import in_its_queue
from collectors.trainings.ranks import failures_of, pods_by_index, rank_of
from collectors.trainings.reading_kind import Owned, ReadingKind, RolePods, TrainingPart
from collectors.trainings.retries import together
from collectors.trainings.training import (
    OWNER_KEYS,
    ROLE_KEYS,
    TEAM_KEYS,
    TRAINING_KEYS,
    Rank,
    Training,
    TrainingState,
    annotation_of,
    first_of,
)

Kinds = Sequence[ReadingKind[Any]]

AUXILIARY_ROLES = ("tensorboard", "notebook")  # roles that do not take part in the computation
_YES = ("true", "yes", "1", "enabled")
_LAST = datetime.max.replace(tzinfo=UTC)


def compose_trainings(kinds: Kinds, inventory: Inventory) -> Iterator[Training]:
    """Yield all trainings of these kinds.

    Others may run between two of them. What is read is kept in the inventory's memo.
    """
    own = {
        name: namespace.metadata
        for name, namespace in inventory.all(NAMESPACES).items()
        if annotation_of(namespace.metadata, TRAINING_KEYS)
    }
    for meta in own.values():
        yield _in_own_namespace(kinds, inventory, meta)
    for kind in kinds:
        for key, one in inventory.all(kind.objects).items():
            claims = inventory.gpu_claims(one.metadata.namespace)
            if one.metadata.namespace in own or not inventory.memo.get(
                ("is training", kind.name, key), (one, claims), partial(kind.is_training, one, claims)
            ):
                continue
            owned = kind.owned(one, inventory)
            queued = _queued(one, inventory)
            yield inventory.memo.get(
                ("training", kind.name, key),
                (one, claims, *owned, *queued),
                partial(_alone, kind, one, owned, queued, claims),
            )


def _queued(one: KubernetesObject, inventory: Inventory) -> tuple[KueueWorkload, ...]:
    return inventory.select(KUEUE_WORKLOADS, by_managed, workload_of(one))


def _part(
    kind: ReadingKind[Any],
    one: Any,
    owned: Owned,
    queued: tuple[KueueWorkload, ...],
    claims: GpuClaims,
) -> TrainingPart:
    part = in_its_queue(kind.part(one, owned, claims), queued)
    made = any(owner_of(each) is not None for each in owned)  # not what it only names, as a runtime
    has_sign = made or bool(queued) or one.status != type(one.status)()
    return part if has_sign else replace(part, has_sign=False)


def _alone(
    kind: ReadingKind[Any],
    one: KubernetesObject,
    owned: Owned,
    queued: tuple[KueueWorkload, ...],
    claims: GpuClaims,
) -> Training:
    parts = (_part(kind, one, owned, queued, claims),)
    return _training(kind.name, one.metadata.namespace, one.metadata, parts, claims)


def _in_own_namespace(kinds: Kinds, inventory: Inventory, meta: ObjectMeta) -> Training:
    """Return the training of a namespace: of the first kind that has an object in it."""
    names = {kind.name for kind in kinds}
    tops: list[tuple[ReadingKind[Any], KubernetesObject, Owned, tuple[KueueWorkload, ...]]] = [
        (kind, one, kind.owned(one, inventory), _queued(one, inventory))
        for kind in kinds
        for one in inventory.select(kind.objects, by_namespace, meta.name)
        if not _is_owned(one, names)
    ]
    servers = [
        (one, inventory.pods_of(workload_of(one)))
        for one in (
            *inventory.select(DEPLOYMENTS, by_namespace, meta.name),
            *inventory.select(STATEFULSETS, by_namespace, meta.name),
        )
        if not _is_owned(one, names)
    ]

    claims = inventory.gpu_claims(meta.name)

    def read() -> Training:
        parts = [_part(kind, one, owned, queued, claims) for kind, one, owned, queued in tops]
        parts += [server_part(one, pods, claims) for one, pods in servers]
        kind = tops[0][0].name if tops else kinds[0].name
        return _training(kind, meta.name, meta, tuple(parts), claims, has_namespace=True)

    pairs = [*((one, (*owned, *queued)) for _, one, owned, queued in tops), *servers]
    objects = (meta, claims, *(each for one, owned in pairs for each in (one, *owned)))
    return inventory.memo.get(("training", "Namespace", meta.name), objects, read)


def _is_owned(one: KubernetesObject, kinds: Iterable[str]) -> bool:
    owner = controller_of(one)
    return owner is not None and kind_of(owner) in kinds


def _name(meta: ObjectMeta) -> str:
    name = annotation_of(meta, TRAINING_KEYS)
    return meta.name if not name or name.lower() in _YES else name


def _training(
    kind: str,
    namespace: str,
    meta: ObjectMeta,
    parts: tuple[TrainingPart, ...],
    claims: GpuClaims,
    *,
    has_namespace: bool = False,
) -> Training:
    """Compose one training. `meta`: its own namespace, or its only object."""
    metas = (*(part.meta for part in parts), meta)
    ranks: list[Rank] = []
    failures: list[Rank] = []
    for part in parts:
        for role in part.roles:
            newest: dict[int, Rank] = {}
            for index, pod in role.pods:
                rank = rank_of(pod, role.role, index, claims)
                newest[rank.index] = rank
                failures.extend(failures_of(pod, rank))
            ranks.extend(newest[index] for index in sorted(newest))
    state, reason = _state(kind, meta, parts, ranks, has_namespace=has_namespace)
    roles = [role for part in parts for role in part.roles]
    return Training(
        id=workload_key(namespace, NAMESPACES.kind_in_keys if has_namespace else kind, meta.name),
        kind=kind,
        namespace=namespace,
        name=_name(meta),
        owner=first_of(metas, OWNER_KEYS),
        team=first_of(metas, TEAM_KEYS),
        state=state,
        reason=reason,
        ranks=tuple(ranks),
        wanted=sum(role.replicas for role in roles),
        retries=together(part.retries for part in parts if not part.is_server),
        gpus_wanted=sum(role.replicas * role.gpus for role in roles),
        failures=tuple(sorted(failures, key=lambda rank: rank.finished or _LAST)),
        workloads=tuple(part.workload for part in parts),
        owned=tuple(workload for part in parts for workload in part.owned),
        restarts=sum(part.restarts for part in parts),
        has_namespace=has_namespace,
        priority=next((part.priority for part in parts if part.priority), ""),
        queue=next((part.queue for part in parts if part.queue), ""),
        tool=next(filter(None, map(tool_of, metas)), ""),
        has_sign=all(part.has_sign for part in parts),
        progress=next((part.progress for part in parts if part.progress), ""),
        created=min((at for one in metas if (at := one.creation_timestamp)), default=None),
        started=min((part.started for part in parts if part.started), default=None),
        finished=max((part.finished for part in parts if part.finished), default=None)
        if state.is_over
        else None,
        is_in_kueue=any(part.is_in_kueue for part in parts),
        limit=min((timedelta(seconds=part.limit) for part in parts if part.limit), default=None),
    )


def _state(
    kind: str, meta: ObjectMeta, parts: Sequence[TrainingPart], ranks: list[Rank], *, has_namespace: bool
) -> tuple[TrainingState, str]:
    """Return the state and the reason, from its top objects first and its pods second."""
    workers = [part for part in parts if not part.is_server]
    if has_namespace and meta.deletion_timestamp:
        return TrainingState.STOPPED, sentence("its namespace is being deleted")
    if not workers:
        if not parts:
            return TrainingState.STOPPED, sentence("it has no workers")
        return TrainingState.STOPPED, counted(
            "it has no workers; {count} other workload remains",
            "it has no workers; {count} other workloads remain",
            count=len(parts),
        )
    for part in workers:
        if part.ended in (TrainingState.FAILED, TrainingState.STOPPED):
            return part.ended, part.reason
    if all(part.ended is TrainingState.SUCCEEDED for part in workers):
        return TrainingState.SUCCEEDED, workers[0].reason
    if all(part.meta.deletion_timestamp for part in workers):
        return TrainingState.STOPPED, sentence("its {kind} is being deleted", kind=shown_kind(kind))
    if all(part.is_suspended for part in workers):
        waits = next((part.waits for part in workers if part.waits), "")
        return TrainingState.SUSPENDED, waits or sentence("it is suspended")
    computing = [rank for rank in ranks if rank.role not in AUXILIARY_ROLES]
    wanted = sum(role.replicas for part in parts for role in part.roles if role.role not in AUXILIARY_ROLES)
    running = [rank for rank in computing if rank.phase in ("Running", "Succeeded") and not rank.reason]
    if len(running) >= sum(
        role.needed for part in parts for role in part.roles if role.role not in AUXILIARY_ROLES
    ):
        return TrainingState.RUNNING, ""
    stuck = next((rank for rank in computing if rank.reason), None)
    reason = counted(
        "{count} of {ranks} ranks is running",
        "{count} of {ranks} ranks are running",
        count=len(running),
        ranks=wanted,
    )
    if stuck:
        why = sentence(
            "{role} {rank} is {reason}", role=stuck.role, rank=str(stuck.index), reason=stuck.reason
        )
        reason = listed([reason, listed(filter(None, [why, stuck.explanation]), ":")], ";")
    is_placed = any(rank.node for rank in computing)
    if not is_placed and (waits := next((part.waits for part in workers if part.waits), "")):
        return TrainingState.QUEUED, waits
    return (TrainingState.STARTING if is_placed else TrainingState.QUEUED), reason


def server_part(server: Workload, pods: Owned, claims: GpuClaims) -> TrainingPart:
    """Return a server as a part of the training."""
    tasks = RolePods(
        role=_role_of(server),
        replicas=1 if server.spec.replicas is None else server.spec.replicas,
        gpus=sum(claims.of_spec(server.spec.template.spec).values()),
        pods=pods_by_index(pods),
    )
    return TrainingPart(meta=server.metadata, workload=workload_of(server), roles=(tasks,), is_server=True)


def _role_of(server: Workload) -> str:
    """Return the annotated role; else `ps` for a server that is not auxiliary by its name."""
    if role := annotation_of(server.metadata, ROLE_KEYS):
        return role
    return next((role for role in AUXILIARY_ROLES if role in server.metadata.name), "ps")
