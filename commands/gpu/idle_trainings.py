"""This file says which trainings do nothing: what their pods' GPUs did, joined with whose they are. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from alerts.cards.message import Table
from collectors.facts.clock import in_words
from collectors.trainings.training import Training
from commands.gpu.idle_detection import MEMORY_HELD_ABOVE, Activity, IdleLook, PodGpus

_WEIGHT = (
    Activity.BUSY,
    Activity.YOUNG,
    Activity.UNKNOWN,
    Activity.IDLE,
)  # one busy pod makes its training busy


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingGpus:
    """The pods with GPUs of one training, or of none (`view` is None)."""

    training: Training | None
    pods: tuple[PodGpus, ...]

    @property
    def activity(self) -> Activity:
        return next(activity for activity in _WEIGHT if any(pod.activity is activity for pod in self.pods))

    @property
    def reason(self) -> str:
        return next((pod.reason for pod in self.pods if pod.reason), "")

    @property
    def idle(self) -> float:
        """GPUs that did nothing; a training may have both."""
        return sum(pod.count for pod in self.pods if pod.activity is Activity.IDLE)

    @property
    def count(self) -> float:
        return sum(pod.count for pod in self.pods)

    @property
    def memory(self) -> float:
        """MiB that is held on idle GPUs; next to nothing counts as nothing."""
        used = sum(pod.memory for pod in self.pods if pod.activity is Activity.IDLE)
        return used if used > MEMORY_HELD_ABOVE else 0.0


def by_training(look: IdleLook, trainings: Sequence[Training]) -> tuple[TrainingGpus, ...]:
    """Trainings that hold GPUs, the most idle first; then the pods of none, each alone."""
    mine = {(training.namespace, rank.pod): training for training in trainings for rank in training.ranks}
    groups: dict[str, list[PodGpus]] = {}
    by_id = {training.id: training for training in trainings}
    alone: list[TrainingGpus] = []
    for key, pod in sorted(look.pods.items()):
        if (training := mine.get(key)) is not None:
            groups.setdefault(training.id, []).append(pod)
        else:
            alone.append(TrainingGpus(training=None, pods=(pod,)))
    found = [TrainingGpus(training=by_id[id], pods=tuple(pods)) for id, pods in groups.items()]
    return tuple(sorted([*found, *alone], key=lambda one: (one.training is None, -one.idle, -one.count)))


def evidence(of: TrainingGpus, look: IdleLook) -> str:
    """`no work on any of 32 GPUs for 30 min, 1.2 TiB of their memory held`."""
    held = f", {memory_words(of.memory)} of their memory held" if of.memory else ""
    return f"no work on any of {of.count:g} GPUs for {in_words(look.after)}{held}"


def idle_table(found: Sequence[TrainingGpus]) -> Table:
    """A row for each training, or pod of none, that holds idle GPUs."""
    rows = tuple(
        (
            one.training.id if one.training else f"{one.pods[0].namespace}/{one.pods[0].pod}",
            (one.training.owner if one.training else "") or "?",
            (one.training.team if one.training else "") or "?",
            _held(one),
            f"{one.idle:g} of {one.count:g}",
            memory_words(one.memory) if one.memory else "none",
            ", ".join(sorted({pod.node for pod in one.pods if pod.activity is Activity.IDLE})[:4]),
        )
        for one in found
    )
    heading = ("training", "owner", "team", "resource", "idle", "memory held", "nodes")
    return Table(heading=heading, rows=rows[:40], more=max(0, len(rows) - 40))


def memory_words(mebibytes: float) -> str:
    return f"{mebibytes / 1024**2:.1f} TiB" if mebibytes >= 1024**2 else f"{mebibytes / 1024:.0f} GiB"


def _held(one: TrainingGpus) -> str:
    return ", ".join(sorted({resource for pod in one.pods for resource in pod.gpus}))
