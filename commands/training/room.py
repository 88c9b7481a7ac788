"""Room on nodes for what a waiting training still lacks: now, and once others have ended. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Pod
from collectors.cluster.resources import requested
from collectors.facts.sentences import sentence
from collectors.trainings.training import Training
from commands.training.placement import NodeCapacity, TaskRequest, node_capacities, place
from commands.training.queue_line import QueueLine
from commands.training.queue_objects import QueueObjects, Tree
from commands.training.start_time import EarlierRun, StartTime, start_after


def lacking_tasks(
    training: Training, inventory: Inventory, example: Tree | None = None
) -> tuple[TaskRequest, ...]:
    """Return the tasks that have no node. `example`: one of its pods in full, for what it tolerates.

    Ranks without a pod are like the pods of their role that there are; a role without any is not among them.
    """
    by_role: dict[str, list[Pod]] = {}
    placed: dict[str, int] = {}
    for rank in training.ranks:
        if rank.node:
            placed[rank.role] = placed.get(rank.role, 0) + 1
        elif (pod := inventory.pods.get(f"{training.namespace}/{rank.pod}")) is not None:
            by_role.setdefault(rank.role, []).append(pod)
    missing = max(0, training.wanted - sum(placed.values()) - sum(map(len, by_role.values())))
    tolerates = _tolerated(example)
    tasks = []
    for number, (role, pods) in enumerate(sorted(by_role.items())):
        count = len(pods) + (missing if number == 0 else 0)
        tasks.append(replace(task_of(pods[0]), role=role, count=count, tolerates=tolerates))
    return tuple(tasks)


def task_of(pod: Pod) -> TaskRequest:
    """Return what a pod asks for; what it tolerates is not cached."""
    return TaskRequest(role="", count=1, amounts=_amounts(pod), node_selector=pod.spec.node_selector or {})


def capacities_for(
    tasks: Iterable[TaskRequest], inventory: Inventory, ended: Iterable[Training] = ()
) -> tuple[NodeCapacity, ...]:
    """Return the nodes' free resources, once these trainings have ended."""
    gone = {f"{one.namespace}/{rank.pod}" for one in ended for rank in one.ranks}
    return node_capacities(inventory, [name for task in tasks for name in task.amounts], without=gone)


def start_on_nodes(
    training: Training,
    line: QueueLine,
    trainings: Sequence[Training],
    inventory: Inventory,
    objects: QueueObjects,
    runs: Sequence[EarlierRun],
    now: datetime,
) -> StartTime:
    """Return when the nodes will have room for its tasks, and for those of all that is before it."""
    own = lacking_tasks(training, inventory, objects.pod)
    if not own:
        return StartTime(basis=sentence("none of its pods is there yet, so where they fit is not known"))
    if line.before is None:
        return StartTime(basis=sentence("who is before it is not known"))
    names = {one.name for one in line.before}
    others = [task for one in trainings if one.shown in names for task in lacking_tasks(one, inventory)]
    if len({one.shown for one in trainings if one.shown in names}) < len(names):
        return StartTime(basis=sentence("what is before it asks for an unknown number of GPUs"))
    tasks = [*others, *own]

    def has_room(ended: Sequence[Training]) -> bool:
        return place(tasks, capacities_for(tasks, inventory, ended)).is_whole

    if has_room(()):
        return StartTime(basis=sentence("the nodes seem to have room for it, so it waits for something else"))
    holders = [one for one in trainings if one.gpus and one.id != training.id]
    return start_after(holders, has_room, runs, now)


def _amounts(pod: Pod) -> dict[str, float]:
    containers = pod.spec.containers or ()
    names = {
        name
        for one in containers
        for amounts in (one.resources.requests, one.resources.limits)
        for name in amounts or {}
    }
    return {name: requested(pod.spec, name) for name in sorted(names)}


def _tolerated(pod: Tree | None) -> frozenset[str]:
    spec: Mapping[str, list[Mapping[str, str]]] = (pod or {}).get("spec") or {}
    return frozenset(str(one.get("key") or "") for one in spec.get("tolerations") or ())
