"""The reason why a training waits, who is before it, when it is likely to start, and what would help. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from collectors.cluster.inventory import Inventory
from collectors.facts.sentences import sentence
from collectors.gpu_activity import IdleSearch
from collectors.trainings.kueue_waits import kueue_reason
from collectors.trainings.training import Training, TrainingState
from collectors.trainings.wait_reasons import WaitKind, WaitReason
from commands.training.gang_waits import gang_reasons
from commands.training.no_sign import no_sign
from commands.training.pod_waits import pod_reasons
from commands.training.queue_line import QueueLine, queue_line, workload_of_training
from commands.training.queue_objects import QueueObjects, stop_policy
from commands.training.room import start_on_nodes
from commands.training.start_time import EarlierRun, StartTime, start_in_queue
from commands.training.training_events import events_about
from commands.training.wait_helps import WaitHelp, wait_helps

WAITING = (TrainingState.QUEUED, TrainingState.STARTING, TrainingState.SUSPENDED)
_STALE = (WaitKind.QUEUE_MISSING, WaitKind.QUEUE_STOPPED)


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
    return WhyWaiting(
        reasons=reasons,
        line=line,
        start=_start(reasons[0], line, seen),
        helps=wait_helps(
            seen.training, reasons, line, seen.inventory, seen.trainings, seen.objects, seen.idle
        ),
        unseen=seen.objects.unseen,
    )


def _reasons(seen: WaitInputs) -> Iterator[WaitReason]:
    training = seen.training
    said = no_sign(training, training.created, seen.now)
    if training.is_in_kueue:
        yield from _of_kueue(seen)
    elif training.state is TrainingState.SUSPENDED:
        yield WaitReason(kind=WaitKind.SUSPENDED, text=training.reason or sentence("it is suspended"))
        return
    gang = list(gang_reasons(training, seen.inventory, seen.objects))
    pods = list(pod_reasons(training, seen.inventory, events_about(training, seen.inventory)))
    if said and not pods and not gang:
        yield WaitReason(kind=WaitKind.CONTROLLER, text=said)
    yield from (*gang, *pods)


def _of_kueue(seen: WaitInputs) -> Iterator[WaitReason]:
    training, objects = seen.training, seen.objects
    workload = workload_of_training(training, seen.inventory)
    if workload is not None and kueue_reason(workload, seen.now) is None:
        return
    own = f"{training.namespace}/{training.queue}"
    if not objects.unseen:
        if own not in objects.local_queues:
            yield WaitReason(
                kind=WaitKind.QUEUE_MISSING,
                text=sentence(
                    "namespace {namespace} has no LocalQueue `{queue}`",
                    namespace=training.namespace,
                    queue=training.queue,
                ),
            )
        elif objects.queue is None:
            yield WaitReason(
                kind=WaitKind.QUEUE_MISSING,
                text=sentence("there is no ClusterQueue `{queue}`", queue=objects.queue_name),
            )
    if policy := objects.stopped.get(own) or (stop_policy(objects.queue) if objects.queue else ""):
        yield WaitReason(
            kind=WaitKind.QUEUE_STOPPED,
            text=sentence(
                "queue `{queue}` of Kueue is stopped ({policy}): it admits nothing",
                queue=objects.queue_name,
                policy=policy,
            ),
        )
    if workload is None:
        yield WaitReason(
            kind=WaitKind.CONTROLLER,
            text=sentence("Kueue has not taken it up: there is no Workload of it"),
        )
    elif (reason := kueue_reason(workload, seen.now)) is not None:
        yield reason


def _start(first: WaitReason, line: QueueLine, seen: WaitInputs) -> StartTime:
    """Return when it starts; not known for anything that a person has to fix."""
    training = seen.training
    if not first.kind.is_for_room:
        return StartTime(basis=_not_by_itself(first.kind))
    if first.kind is WaitKind.TURN:
        return StartTime(basis=sentence("nothing says when it is its turn"))
    if first.kind is WaitKind.QUOTA:
        return start_in_queue(line, training.gpus_wanted, seen.runs, seen.now)
    return start_on_nodes(training, line, seen.trainings, seen.inventory, seen.objects, seen.runs, seen.now)


def _not_by_itself(kind: WaitKind) -> str:
    if kind in (
        WaitKind.REQUEUED,
        WaitKind.PREEMPTING,
        WaitKind.OTHERS_READY,
        WaitKind.ADMISSION_CHECK,
        WaitKind.OVERUSED,
        WaitKind.TOPOLOGY,
        WaitKind.STARTING,
        WaitKind.UNKNOWN,
    ):
        return sentence("nothing says how long that takes")
    return sentence("it does not start by itself: somebody has to change something first")
