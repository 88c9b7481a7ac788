"""Help for a training that waits: fewer workers, another pool, closed nodes, GPUs that are idle. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from collectors.cluster.inventory import Inventory
from collectors.facts.sentences import counted, listed, sentence
from collectors.gpu_activity import Activity, IdleSearch
from collectors.trainings.training import Training
from collectors.trainings.wait_reasons import WaitKind, WaitReason
from commands.training.placement import CORDONED, place
from commands.training.queue_line import QueueLine
from commands.training.queue_objects import QueueObjects
from commands.training.room import capacities_for, lacking_tasks
from commands.training.room_words import may_be_lifted

_NAMED = 3
_FOR_NODES = (
    WaitKind.GANG,
    WaitKind.GPUS,
    WaitKind.CORDONED,
    WaitKind.SELECTOR,
    WaitKind.RESOURCES,
    WaitKind.TAINT,
)
_FOR_GPUS = (WaitKind.QUOTA, WaitKind.GANG, WaitKind.GPUS, WaitKind.OVERUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitHelp:
    """One thing that would help, and the command line that does it, if there is one."""

    text: str
    line: str = ""
    label: str = ""


def wait_helps(
    training: Training,
    reasons: Sequence[WaitReason],
    line: QueueLine,
    inventory: Inventory,
    trainings: Sequence[Training],
    objects: QueueObjects,
    idle: IdleSearch | None,
    now: datetime,
) -> tuple[WaitHelp, ...]:
    """Return what would help, what the training's owner can do first."""
    kind = reasons[0].kind
    found: list[WaitHelp] = []
    if kind in (WaitKind.QUOTA, WaitKind.TOO_LARGE) and line.system:
        found += _fewer_in_queue(training, kind, line)
    if kind in _FOR_NODES:
        found += _on_nodes(training, inventory, objects, now)
    if kind in _FOR_GPUS and idle is not None:
        found += _idle(training, trainings, idle)
        found += _once_idle_are_free(training, trainings, inventory, objects, idle)
    if kind is WaitKind.SUSPENDED:
        text = sentence("`training resume {training}` resumes it", training=training.typed)
        found.append(WaitHelp(text=text, line=f"training resume {training.typed}", label="Resume"))
    return tuple(found)


def _fewer_in_queue(training: Training, kind: WaitKind, line: QueueLine) -> list[WaitHelp]:
    """Return with how many workers it would fit: into what the queue has at all, or has free with nobody before it."""
    each = training.gpus_wanted / training.wanted if training.wanted else 0.0
    room = line.most if kind is WaitKind.TOO_LARGE else line.free
    if not each or room is None or (kind is WaitKind.QUOTA and line.before):
        return []
    workers = int(room // each)
    if not 0 < workers < training.wanted:
        return []
    return [WaitHelp(text=_fits(workers), line=f"training scale {training.typed} {workers}")]


def _fits(workers: int) -> str:
    return counted("with {count} worker it would fit", "with {count} workers it would fit", count=workers)


def _on_nodes(
    training: Training, inventory: Inventory, objects: QueueObjects, now: datetime
) -> list[WaitHelp]:
    tasks = lacking_tasks(training, inventory, objects.pod)
    if not tasks:
        return []
    capacities = capacities_for(tasks, inventory)
    placement = place(tasks, capacities)
    if placement.is_whole:
        return []
    found: list[WaitHelp] = []
    task = placement.short
    placed = sum(bool(rank.node) for rank in training.ranks)
    if (
        task is not None
        and placement.fitting
        and len(tasks) == 1
        and placement.fitting + placed < training.wanted
    ):
        workers = placement.fitting + placed
        found.append(WaitHelp(text=_fits(workers), line=f"training scale {training.typed} {workers}"))
    for key in {key for one in tasks for key in one.node_selector}:
        for value in sorted({one.labels[key] for one in capacities if key in one.labels}):
            other = [replace(one, node_selector={**one.node_selector, key: value}) for one in tasks]
            if other != list(tasks) and place(other, capacities).is_whole:
                text = sentence("on nodes with {label} it would fit now", label=f"{key}={value}")
                found.append(WaitHelp(text=text))
    closed = [
        one.node
        for one in capacities
        if one.closed == CORDONED
        and any(one.holds(each) for each in tasks)
        and may_be_lifted(inventory.nodes[one.node], now)
    ]
    if closed:
        opened = [replace(one, closed="") if one.node in closed else one for one in capacities]
        names = " ".join(closed[:_NAMED])
        whole = place(tasks, opened).is_whole
        text = (
            sentence("`node uncordon {nodes}` would be enough: the time of that cordon is over", nodes=names)
            if whole and len(closed) <= _NAMED
            else sentence("`node uncordon {nodes}` would help: the time of that cordon is over", nodes=names)
        )
        found.append(WaitHelp(text=text))
    return found


def _idle(training: Training, trainings: Sequence[Training], idle: IdleSearch) -> list[WaitHelp]:
    """Return which trainings hold idle GPUs, and whose they are."""
    if idle.blind:
        return [WaitHelp(text=sentence("which GPUs are idle is not known: {reason}", reason=idle.blind))]
    by_pod = {(one.namespace, rank.pod): one for one in trainings for rank in one.ranks}
    held: dict[str, float] = {}
    named: dict[str, Training] = {}
    for key, pod in idle.pods.items():
        of = by_pod.get(key)
        if of is not None and of.id != training.id and pod.activity is Activity.IDLE:
            held[of.id] = held.get(of.id, 0.0) + pod.count
            named[of.id] = of
    if not held:
        return []
    most = sorted(held, key=lambda id: -held[id])
    said = [
        sentence(
            "{training} ({gpus:g}, of {owner})",
            training=named[id].shown,
            gpus=held[id],
            owner=named[id].owner or sentence("unknown"),
        )
        for id in most
    ]
    text = counted(
        "{count:g} GPU is idle (no work for {after}): {trainings}",
        "{count:g} GPUs are idle (no work for {after}): {trainings}",
        count=sum(held.values()),
        after=idle.after,
        trainings=listed(said, most=_NAMED),
    )
    line = f"gpu free {' '.join(named[id].typed for id in most[:_NAMED])}"
    return [WaitHelp(text=text, line=line, label="Ask for idle GPUs")]


def _once_idle_are_free(
    training: Training,
    trainings: Sequence[Training],
    inventory: Inventory,
    objects: QueueObjects,
    idle: IdleSearch,
) -> list[WaitHelp]:
    """Return for how many of its tasks the idle trainings' nodes would have room: idle GPUs may be scattered too."""
    tasks = lacking_tasks(training, inventory, objects.pod)
    held = {key for key, pod in idle.pods.items() if pod.activity is Activity.IDLE}
    ended = [
        one
        for one in trainings
        if one.id != training.id and any((one.namespace, rank.pod) in held for rank in one.ranks)
    ]
    if not tasks or not ended:
        return []
    then = place(tasks, capacities_for(tasks, inventory, ended))
    if then.is_whole:
        return [WaitHelp(text=sentence("all of it would fit once they are free"))]
    more = then.fitting - place(tasks, capacities_for(tasks, inventory)).fitting
    if more <= 0:
        return [WaitHelp(text=sentence("none of its tasks would fit there: on each node too few are idle"))]
    return [
        WaitHelp(
            text=counted(
                "{count} more of its tasks would fit once they are free, not all",
                "{count} more of its tasks would fit once they are free, not all",
                count=more,
            )
        )
    ]
