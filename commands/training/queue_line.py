"""The queue of a waiting training: who is before it, who holds what it waits for, and how much there is. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from collectors.cluster.conditions import true_condition
from collectors.cluster.indexes import by_managed
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import KUEUE_WORKLOADS
from collectors.cluster.kueue_workloads import KueueWorkload
from collectors.cluster.resources import gpu_resource, parse_quantity
from collectors.facts.sentences import sentence
from collectors.trainings.training import Training, TrainingState
from commands.training.kueue_quota import cohort_of, gpu_quotas, is_finished, most_of
from commands.training.queue_objects import QueueObjects, Tree, queue_of_group
from commands.training.queues import VOLCANO_API

_LAST = datetime.max.replace(tzinfo=UTC)
_WAITING = ("Pending", "Inqueue", "")  # phases of Volcano's PodGroups without their resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiter:
    """Something that is before the training. `gpus` is None where that is not known."""

    name: str
    gpus: float | None = None
    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLine:
    """A queue. `before` is None where the order is not known; `size` and `used` are GPUs, None where not known."""

    name: str = ""
    system: str = ""  # Kueue or Volcano; empty without a queue
    before: tuple[Waiter, ...] | None = None
    order: str = ""  # by what it is ordered
    holders: tuple[Training, ...] = ()  # that hold GPUs which it waits for
    size: float | None = None
    used: float | None = None
    most: float | None = None  # that it may have with what it borrows

    @property
    def free(self) -> float | None:
        return None if self.size is None or self.used is None else max(0.0, self.size - self.used)


def queue_line(
    training: Training, trainings: Sequence[Training], inventory: Inventory, objects: QueueObjects
) -> QueueLine:
    """Return the queue that the training is in; without one, what waits for nodes as it does."""
    if training.is_in_kueue:
        return _of_kueue(training, trainings, inventory, objects)
    if objects.group is not None and objects.group["apiVersion"] == VOLCANO_API:
        return _of_volcano(training, trainings, objects)
    return _of_nodes(training, trainings, inventory)


def workload_of_training(training: Training, inventory: Inventory) -> KueueWorkload | None:
    """Return its Workload in Kueue: of several, one that has not been admitted."""
    found = [one for key in training.workloads for one in inventory.select(KUEUE_WORKLOADS, by_managed, key)]
    return next((one for one in found if not is_admitted(one)), next(iter(found), None))


def is_admitted(workload: KueueWorkload) -> bool:
    return true_condition(workload.status.conditions, "Admitted") is not None


def _of_kueue(
    training: Training, trainings: Sequence[Training], inventory: Inventory, objects: QueueObjects
) -> QueueLine:
    own = workload_of_training(training, inventory)
    by_key = {key: one for one in trainings for key in one.workloads}
    before: list[tuple[tuple[int, datetime, str], Waiter]] = []
    holders: list[Training] = []
    for one in inventory.all(KUEUE_WORKLOADS).values():
        leads_to = objects.local_queues.get(f"{one.metadata.namespace}/{one.spec.queue_name}", "")
        if (
            one is own
            or leads_to != objects.queue_name
            or not leads_to
            or is_finished(one)
            or not one.spec.active
        ):
            continue
        of = next((by_key[key] for key in by_managed(one) if key in by_key), None)
        if is_admitted(one):
            holders += [of] if of is not None else []
            continue
        if own is not None and _turn(one) < _turn(own):
            name = of.shown if of is not None else f"{one.metadata.namespace}/{one.metadata.name}"
            gpus = of.gpus_wanted if of is not None else None
            before.append((_turn(one), Waiter(name=name, gpus=gpus, priority=one.spec.priority or 0)))
    size, used = _kueue_gpus(objects)
    strategy = ((objects.queue or {}).get("spec") or {}).get("queueingStrategy") or "BestEffortFIFO"
    order = (
        sentence("by priority and then by age; one that does not fit holds the later ones back")
        if strategy == "StrictFIFO"
        else sentence("by priority and then by age; a later one that fits may pass")
    )
    return QueueLine(
        name=objects.queue_name,
        system="Kueue",
        before=tuple(one for _, one in sorted(before, key=lambda one: one[0]))
        if own and objects.queue_name
        else None,
        order=order,
        holders=tuple(holders),
        size=size,
        used=used,
        most=_most(own, size),
    )


def _most(own: KueueWorkload | None, size: float | None) -> float | None:
    conditions = (own.status.conditions or ()) if own is not None else ()
    message = next((one.message for one in conditions if one.type == "QuotaReserved"), "")
    return most_of(message) or size


def _turn(workload: KueueWorkload) -> tuple[int, datetime, str]:
    """Return by what Kueue orders: one that was taken back as its pods were not ready waits from then on."""
    since = workload.metadata.creation_timestamp or _LAST
    for one in workload.status.conditions or ():
        if one.type == "Evicted" and one.status == "True" and one.reason == "PodsReadyTimeout":
            since = one.last_transition_time or since
    return -(workload.spec.priority or 0), since, workload.key


def _kueue_gpus(objects: QueueObjects) -> tuple[float | None, float | None]:
    """Return the GPUs that a ClusterQueue has and that are reserved; not known with several flavors, or a cohort."""
    quotas = gpu_quotas(objects.queue, objects.reserved)
    if len(quotas) != 1 or cohort_of(objects.queue):
        return None, None
    return quotas[0].own, quotas[0].used


def _of_volcano(training: Training, trainings: Sequence[Training], objects: QueueObjects) -> QueueLine:
    name = objects.queue_name
    own = objects.group or {}
    waiting = [
        one
        for one in objects.groups
        if queue_of_group(one) == name and _phase(one) in _WAITING and one is not own and _is_before(one, own)
    ]
    queue = objects.queue or {}
    return QueueLine(
        name=name,
        system="Volcano",
        before=tuple(_waiter(one, trainings) for one in waiting),
        order=sentence(
            "by age; Volcano puts those first that have a higher priority or use less of their share"
        ),
        holders=tuple(one for one in trainings if one.queue == name and one.gpus and one.id != training.id),
        size=_gpus_in((queue.get("spec") or {}).get("capability")),
        most=_gpus_in((queue.get("spec") or {}).get("capability")),
        used=_used(queue),
    )


def _used(queue: Tree) -> float | None:
    """Return the GPUs of a Queue that are in use: what nothing uses is not in its status."""
    allocated = (queue.get("status") or {}).get("allocated")
    return None if allocated is None else _gpus_in(allocated) or 0.0


def _phase(group: Tree) -> str:
    return str((group.get("status") or {}).get("phase") or "")


def _is_before(one: Tree, own: Tree) -> bool:
    """Return whether it came before: one that Volcano has let in is, however old the other one is."""
    if _phase(one) == "Inqueue" and _phase(own) != "Inqueue":
        return True
    return bool(
        str(one["metadata"].get("creationTimestamp") or "~")
        < str(own["metadata"].get("creationTimestamp") or "")
    )


def _waiter(group: Tree, trainings: Sequence[Training]) -> Waiter:
    meta = group["metadata"]
    owners = {owner.get("name") for owner in meta.get("ownerReferences") or ()}
    of = next(
        (
            one
            for one in trainings
            if one.namespace == meta.get("namespace")
            and any(key.rpartition("/")[2] in owners for key in one.workloads)
        ),
        None,
    )
    if of is None:
        return Waiter(name=f"{meta.get('namespace')}/{meta['name']}")
    return Waiter(name=of.shown, gpus=of.gpus_wanted)


def _gpus_in(resources: Mapping[str, Any] | None) -> float | None:
    found = [parse_quantity(amount) for name, amount in (resources or {}).items() if gpu_resource(name)]
    return sum(found) if found else None


def _of_nodes(training: Training, trainings: Sequence[Training], inventory: Inventory) -> QueueLine:
    own = _priority(training, inventory)
    before = [
        (one, priority)
        for one in trainings
        if one.id != training.id
        and one.state in (TrainingState.QUEUED, TrainingState.STARTING)
        and one.gpus < one.gpus_wanted
        and not one.is_in_kueue
        and (priority := _priority(one, inventory)) is not None
        and own is not None
        and (-priority, one.created or _LAST) < (-own, training.created or _LAST)
    ]
    return QueueLine(
        before=tuple(
            Waiter(name=one.shown, gpus=one.gpus_wanted - one.gpus, priority=priority)
            for one, priority in sorted(before, key=lambda each: (-each[1], each[0].created or _LAST))
        )
        if own is not None
        else None,
        order=sentence("by the priority of its pods and then by age; one that fits may pass"),
        holders=tuple(one for one in trainings if one.gpus and one.id != training.id),
    )


def _priority(training: Training, inventory: Inventory) -> int | None:
    """Return the priority of its pods that wait; None if it has none yet."""
    return max(_priorities(training, inventory), default=None)


def _priorities(training: Training, inventory: Inventory) -> Iterator[int]:
    for rank in training.ranks:
        pod = inventory.pods.get(f"{training.namespace}/{rank.pod}")
        if pod is not None and not pod.spec.node_name:
            yield pod.spec.priority
