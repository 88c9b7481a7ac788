"""The time at which a waiting training may start: from deadlines and earlier runs of what holds its room. Pure.

Nothing is guessed. Where one of those that it waits for may end at any time, the time is not known.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from collectors.facts.sentences import counted, listed, sentence
from collectors.trainings.training import Training, TrainingState
from commands.training.queue_line import QueueLine

FEWEST = 3  # earlier runs, to say how long one takes
LIKE = 0.5  # a run with so many times more or less GPUs is not its like
_NUMBERED = re.compile(r"(?:[-_.](?:v?\d+|[0-9a-f]{5,10}|\d{4}-\d{2}-\d{2}))+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRun:
    """A run that has succeeded. `name` is as people read it."""

    name: str
    gpus: float
    lasted: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """When a training that runs will end. `is_bound`: at the latest; else it is what its like took."""

    training: Training
    at: datetime
    is_bound: bool
    runs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTime:
    """When it is likely to start, and from what that is known; or why it is not known."""

    at: datetime | None = None
    is_bound: bool = False
    basis: str = ""


def earlier_runs(trainings: Iterable[Training]) -> tuple[EarlierRun, ...]:
    """Return the runs among these trainings that have succeeded."""
    return tuple(
        EarlierRun(name=one.shown, gpus=one.gpus_wanted, lasted=one.finished - one.started)
        for one in trainings
        if one.state is TrainingState.SUCCEEDED and one.started and one.finished
    )


def stem(name: str) -> str:
    """Return a training's name without what counts its runs: `vision/detr` for `vision/detr-7`.

    A namespace that was made for one run alone has its name: of `detr-7/detr-7` it is `detr/detr`.
    """
    namespace, _, own = name.rpartition("/")
    if namespace and namespace == own:
        return f"{stem(own)}/{stem(own)}"
    return _NUMBERED.sub("", name) or name


def ending_of(training: Training, runs: Sequence[EarlierRun], now: datetime) -> Ending | None:
    """Return when a training ends; None where nothing says so, or it takes longer than its like did."""
    if training.started is None:
        return None
    limit = training.started + training.limit if training.limit is not None else None
    if limit is not None and limit <= now:
        limit = None  # it should have ended: the clock or its controller is late
    like = [one.lasted.total_seconds() for one in runs if is_like(one, training.shown, training.gpus_wanted)]
    usual = training.started + timedelta(seconds=median(like)) if len(like) >= FEWEST else None
    if usual is not None and usual > now and (limit is None or usual <= limit):
        return Ending(training=training, at=usual, is_bound=False, runs=len(like))
    return Ending(training=training, at=limit, is_bound=True) if limit is not None else None


def start_in_queue(line: QueueLine, gpus: float, runs: Sequence[EarlierRun], now: datetime) -> StartTime:
    """Return when a queue will have room for the training, and for all that is before it."""
    if line.size is None or line.free is None:
        return StartTime(basis=sentence("how many GPUs the queue has for it is not known"))
    if line.before is None:
        return StartTime(basis=sentence("who is before it is not known"))
    if any(one.gpus is None for one in line.before):
        return StartTime(basis=sentence("what is before it asks for an unknown number of GPUs"))
    needed = gpus + sum(one.gpus or 0.0 for one in line.before)
    if needed > line.size:
        if line.before:
            return StartTime(basis=sentence("those before it have to run first, and how long is not known"))
        return StartTime(basis=sentence("it asks for more than the queue has"))
    free = line.free
    if free >= needed:
        return StartTime(basis=sentence("the queue has room for it, so it waits for something else"))

    def has_room(ended: Sequence[Training]) -> bool:
        return free + sum(one.gpus or one.gpus_wanted for one in ended) >= needed

    return start_after(line.holders, has_room, runs, now)


def start_after(
    holders: Sequence[Training],
    has_room: Callable[[Sequence[Training]], bool],
    runs: Sequence[EarlierRun],
    now: datetime,
) -> StartTime:
    """Return when so many of the holders have ended that there is room."""
    endings = {one.id: ending_of(one, runs, now) for one in holders}
    known = sorted((one for one in endings.values() if one is not None), key=lambda one: one.at)
    awaited: list[Ending] = []
    for ending in known:
        awaited.append(ending)
        if has_room([one.training for one in awaited]):
            is_bound = all(one.is_bound for one in awaited)
            return StartTime(at=ending.at, is_bound=is_bound, basis=_basis(awaited))
    unknown = [one.shown for one in holders if endings[one.id] is None]
    if not unknown:
        return StartTime(basis=sentence("the rest is not held by a known training"))
    return StartTime(
        basis=counted(
            "nothing says when {trainings} ends",
            "nothing says when {trainings} end",
            count=len(unknown),
            trainings=listed(unknown, "or", most=3),
        )
    )


def _basis(awaited: Sequence[Ending]) -> str:
    return listed(
        [
            sentence("{training} is ended by its deadline", training=one.training.shown)
            if one.is_bound
            else counted(
                "{training} took as long in its {count} earlier run",
                "{training} took as long in its {count} earlier runs",
                count=one.runs,
                training=one.training.shown,
            )
            for one in awaited
        ],
        "and",
        most=3,
    )


def is_like(run: EarlierRun, name: str, gpus: float) -> bool:
    """Whether a run tells how long a training of that name takes with so many GPUs."""
    if stem(run.name) != stem(name):
        return False
    most = max(run.gpus, gpus)
    return most == 0 or abs(run.gpus - gpus) <= LIKE * most
