"""The reason why a training waits, who is before it, when it is likely to start, and what would help. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from collectors.cluster.inventory import Inventory
from collectors.facts.sentences import sentence
from collectors.gpu_activity import IdleSearch
from collectors.trainings.training import Training, TrainingState
from collectors.trainings.wait_reasons import WaitKind, WaitReason
from commands.training.awaited_nodes import ended_on_nodes, when_pods_are_gone
from commands.training.controller_pods import CONTROLLERS, SCHEDULERS, controller_trouble
from commands.training.gang_waits import gang_reasons
from commands.training.kueue_preemption import ended_for, when_they_are_gone
from commands.training.kueue_reasons import kueue_reasons
from commands.training.no_sign import no_sign
from commands.training.pod_waits import pod_reasons
from commands.training.queue_line import QueueLine, queue_line, workload_of_training
from commands.training.queue_objects import QueueObjects
from commands.training.queues import VOLCANO_API
from commands.training.room import start_on_nodes
from commands.training.start_time import EarlierRun, StartTime, start_in_queue
from commands.training.suspended_by import suspended_text
from commands.training.training_events import events_about
from commands.training.wait_helps import WaitHelp, wait_helps

WAITING = (TrainingState.QUEUED, TrainingState.STARTING, TrainingState.SUSPENDED)
# Where nobody is before it, and why.
_OUT_OF_LINE = {
    WaitKind.QUEUE_MISSING: sentence("it is in no queue"),
    WaitKind.CONTROLLER: sentence("nothing acts on it"),
    WaitKind.IMAGE: sentence("it has its nodes"),
    WaitKind.CONFIG: sentence("it has its nodes"),
    WaitKind.CRASHING: sentence("it has its nodes"),
    WaitKind.NETWORK: sentence("it has its nodes"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitInputs:
    """All that is looked at. `idle` is None where nobody asked which GPUs are idle."""

    training: Training
    trainings: Sequence[Training]
    inventory: Inventory
    objects: QueueObjects
    now: datetime
    runs: tuple[EarlierRun, ...] = ()
    idle: IdleSearch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyWaiting:
    """The answer. `reasons` has at least one; what is said first has to be fixed or waited for first."""

    reasons: tuple[WaitReason, ...]
    line: QueueLine
    start: StartTime
    helps: tuple[WaitHelp, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def kind(self) -> WaitKind:
        return self.reasons[0].kind


def why_waiting(seen: WaitInputs) -> WhyWaiting:
    reasons = tuple({one.text: one for one in _reasons(seen)}.values())
    if not reasons:
        text = seen.training.reason or sentence("no object in the cluster says why")
        reasons = (WaitReason(kind=WaitKind.UNKNOWN, text=text),)
    line = queue_line(seen.training, seen.trainings, seen.inventory, seen.objects)
    if (order := _OUT_OF_LINE.get(reasons[0].kind)) and not line.before:
        line = replace(line, before=(), order=order)
    return WhyWaiting(
        reasons=reasons,
        line=line,
        start=_start(reasons[0], line, seen),
        helps=wait_helps(
            seen.training, reasons, line, seen.inventory, seen.trainings, seen.objects, seen.idle, seen.now
        ),
        unseen=seen.objects.unseen,
    )


def _reasons(seen: WaitInputs) -> Iterator[WaitReason]:
    training = seen.training
    said = no_sign(training, training.created, seen.now)
    kueue: list[WaitReason] = []
    if training.is_in_kueue:
        kueue = list(kueue_reasons(training, seen.trainings, seen.inventory, seen.objects, seen.now))
        yield from kueue
    elif training.state is TrainingState.SUSPENDED:
        yield WaitReason(kind=WaitKind.SUSPENDED, text=training.reason or sentence("it is suspended"))
        if by := suspended_text(seen.objects.top):
            yield WaitReason(kind=WaitKind.SUSPENDED, text=by)
        return
    gang = list(gang_reasons(training, seen.inventory, seen.objects))
    pods = list(pod_reasons(training, seen.inventory, events_about(training, seen.inventory)))
    is_held = any(one.kind is WaitKind.CONTROLLER for one in kueue)  # its own controller waits for Kueue
    if said and not pods and not gang and not is_held:
        yield WaitReason(kind=WaitKind.CONTROLLER, text=said)
        if trouble := controller_trouble(CONTROLLERS.get(training.kind, ()), seen.inventory):
            yield WaitReason(kind=WaitKind.CONTROLLER, text=trouble)
    if all(one.kind is WaitKind.TURN for one in pods) and (trouble := _scheduler_trouble(seen)):
        yield WaitReason(kind=WaitKind.CONTROLLER, text=trouble)
    yield from (*gang, *pods)


def _scheduler_trouble(seen: WaitInputs) -> str:
    """Return what is wrong with the scheduler that its pods or its gang need; empty where nothing is seen of that."""
    name = str(((seen.objects.pod or {}).get("spec") or {}).get("schedulerName") or "")
    group = seen.objects.group or {}
    if not name and group.get("apiVersion") == VOLCANO_API:
        name = "volcano"
    return controller_trouble(SCHEDULERS.get(name, (name,)), seen.inventory) if name else ""


def _start(first: WaitReason, line: QueueLine, seen: WaitInputs) -> StartTime:
    """Return when it starts; not known for anything that a person has to fix."""
    training = seen.training
    if first.kind is WaitKind.PREEMPTING and (others := _ended_for(seen)):
        return when_they_are_gone(others, seen.inventory)
    if first.kind is WaitKind.PREEMPTING and (pods := ended_on_nodes(training, seen.inventory)):
        return when_pods_are_gone(pods)
    if first.kind is WaitKind.CONTROLLER:
        return StartTime(basis=sentence("it is taken up once its controller runs"))
    if not first.kind.is_for_room:
        return StartTime(basis=_not_by_itself(first.kind))
    if first.kind is WaitKind.TURN:
        return StartTime(basis=sentence("nothing says when it is its turn"))
    if first.kind is WaitKind.QUOTA:
        return start_in_queue(line, training.gpus_wanted, seen.runs, seen.now)
    return start_on_nodes(training, line, seen.trainings, seen.inventory, seen.objects, seen.runs, seen.now)


def _ended_for(seen: WaitInputs) -> tuple[Training, ...]:
    own = workload_of_training(seen.training, seen.inventory)
    return ended_for(own, seen.trainings, seen.inventory) if own is not None else ()


def _not_by_itself(kind: WaitKind) -> str:
    if kind in (
        WaitKind.REQUEUED,
        WaitKind.PREEMPTING,
        WaitKind.OTHERS_READY,
        WaitKind.ADMISSION_CHECK,
        WaitKind.OVERUSED,
        WaitKind.TOPOLOGY,
        WaitKind.VOLUME,
        WaitKind.STARTING,
        WaitKind.UNKNOWN,
    ):
        return sentence("nothing says how long that takes")
    return sentence("it never starts by itself: somebody has to change something first")
