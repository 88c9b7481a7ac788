"""Idle trainings: the GPU activity of pods, joined with their training and owner. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from alerts.cards.message import Table
from collectors.facts.clock import humanize
from collectors.trainings.training import Training
from commands.gpu.idle_detection import MEMORY_HELD_ABOVE, Activity, IdleSearch, PodGpus

# One busy pod makes its training busy.
_PRECEDENCE = (Activity.BUSY, Activity.YOUNG, Activity.UNKNOWN, Activity.IDLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingGpus:
    """The pods with GPUs of one training, or a pod without one (`training` is None)."""

    training: Training | None
    pods: tuple[PodGpus, ...]

    @property
    def activity(self) -> Activity:
        return next(
            activity for activity in _PRECEDENCE if any(pod.activity is activity for pod in self.pods)
        )

    @property
    def reason(self) -> str:
        return next((pod.reason for pod in self.pods if pod.reason), "")

    @property
    def idle(self) -> float:
        """Idle GPUs; a training may have idle and busy ones."""
        return sum(pod.count for pod in self.pods if pod.activity is Activity.IDLE)

    @property
    def count(self) -> float:
        return sum(pod.count for pod in self.pods)

    @property
    def memory(self) -> float:
        """MiB in use on idle GPUs; what the driver alone may use counts as 0."""
        used = sum(pod.memory for pod in self.pods if pod.activity is Activity.IDLE)
        return used if used > MEMORY_HELD_ABOVE else 0.0


def by_training(look: IdleSearch, trainings: Sequence[Training]) -> tuple[TrainingGpus, ...]:
    """Return the trainings that hold GPUs, most idle first, then each pod without a training."""
    by_pod = {(training.namespace, rank.pod): training for training in trainings for rank in training.ranks}
    groups: dict[str, list[PodGpus]] = {}
    by_id = {training.id: training for training in trainings}
    alone: list[TrainingGpus] = []
    for key, pod in sorted(look.pods.items()):
        if (training := by_pod.get(key)) is not None:
            groups.setdefault(training.id, []).append(pod)
        else:
            alone.append(TrainingGpus(training=None, pods=(pod,)))
    found = [TrainingGpus(training=by_id[id], pods=tuple(pods)) for id, pods in groups.items()]
    return tuple(sorted([*found, *alone], key=lambda one: (one.training is None, -one.idle, -one.count)))


def evidence(of: TrainingGpus, look: IdleSearch) -> str:
    """Return a text like `no work on any of 32 GPUs for 30 min, 1.2 TiB of their memory in use`."""
    held = f", {format_memory(of.memory)} of their memory in use" if of.memory else ""
    return f"no work on any of {of.count:g} GPUs for {humanize(look.after)}{held}"


def idle_table(found: Sequence[TrainingGpus]) -> Table:
    """Return a row per training, or pod without one, that holds idle GPUs."""
    rows = tuple(
        (
            one.training.id if one.training else f"{one.pods[0].namespace}/{one.pods[0].pod}",
            (one.training.owner if one.training else "") or "?",
            (one.training.team if one.training else "") or "?",
            _resources(one),
            f"{one.idle:g} of {one.count:g}",
            format_memory(one.memory) if one.memory else "none",
            ", ".join(sorted({pod.node for pod in one.pods if pod.activity is Activity.IDLE})[:4]),
        )
        for one in found
    )
    heading = ("training", "owner", "team", "resource", "idle", "memory in use", "nodes")
    return Table(heading=heading, rows=rows[:40], more=max(0, len(rows) - 40))


def format_memory(mebibytes: float) -> str:
    return f"{mebibytes / 1024**2:.1f} TiB" if mebibytes >= 1024**2 else f"{mebibytes / 1024:.0f} GiB"


def _resources(one: TrainingGpus) -> str:
    return ", ".join(sorted({resource for pod in one.pods for resource in pod.gpus}))
