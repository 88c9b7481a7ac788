"""Runs of trainings that have ended: what was stored of them, and how long the like of a training usually takes."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from statistics import median

from alerts.store import StoreSnapshot, stored
from collectors.facts.sentences import counted
from collectors.trainings.training import Training, TrainingState
from commands.training.start_time import FEWEST, EarlierRun, earlier_runs, is_like, stem

MOST_RUNS = 500  # of all likes together, the newest
SHARE = 0.95


@stored(
    "training_runs",
    "cluster",
    "like",
    "at",
    over=lambda run: run.at,
    floats=lambda run: (run.gpus, run.peak_memory or 0),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRun:
    """A run that has ended. It stays when its training is gone, until old rows are deleted."""

    id: str  # the cluster, the key, and when it started
    cluster: str
    training: str  # its key
    name: str  # as people read it: namespace/name
    like: str  # the same without what counts its runs
    kind: str
    state: str  # how it ended
    owner: str = ""
    team: str = ""
    gpus: float = 0  # that it asked for
    started: datetime
    at: datetime  # its end
    peak_memory: float | None = None  # of its GPUs together, in MiB

    @property
    def lasted(self) -> timedelta:
        return self.at - self.started

    @property
    def gpu_hours(self) -> float:
        return self.gpus * self.lasted.total_seconds() / 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class UsualRun:
    """How long runs that are alike took: half of them at most `half`, and 19 of 20 at most `most`."""

    runs: int
    half: timedelta
    most: timedelta

    def text(self) -> str:
        return counted(
            "{count} earlier run like this one: it took {most}",
            "{count} earlier runs like this one: median {half}, 95th percentile {most}",
            count=self.runs,
            half=self.half,
            most=self.most,
        )


def run_of(training: Training, cluster: str) -> TrainingRun | None:
    """Return the run of a training that has ended; None of one that has not, or that never started."""
    if not training.state.is_over or training.started is None or training.finished is None:
        return None
    return TrainingRun(
        id=f"{cluster}/{training.id}/{training.started:%Y%m%d%H%M%S}",
        cluster=cluster,
        training=training.id,
        name=training.shown,
        like=stem(training.shown),
        kind=training.kind,
        state=training.state.value,
        owner=training.owner,
        team=training.team,
        gpus=training.gpus_wanted,
        started=training.started,
        at=max(training.finished, training.started),
    )


async def runs_like(
    names: Collection[str], cluster: str, trainings: Iterable[Training], snapshot: StoreSnapshot
) -> tuple[EarlierRun, ...]:
    """Return the runs that succeeded of trainings named like these: those that the cluster shows, and stored ones."""
    stems = {stem(name) for name in names}
    found = await snapshot.rows(TrainingRun).find(cluster=cluster, like=stems, newest=True, limit=MOST_RUNS)
    shown = [one for one in trainings if stem(one.shown) in stems]
    known = {(one.id, one.started) for one in shown}
    stored_ones = (
        EarlierRun(name=one.name, gpus=one.gpus, lasted=one.lasted)
        for one in found
        if one.state == TrainingState.SUCCEEDED.value and (one.training, one.started) not in known
    )
    return (*earlier_runs(shown), *stored_ones)


def usual_run(name: str, gpus: float, runs: Sequence[EarlierRun]) -> UsualRun | None:
    """Return how long runs like this usually take; None where too few are known to say so."""
    lasted = sorted(one.lasted.total_seconds() for one in runs if is_like(one, name, gpus))
    if len(lasted) < FEWEST:
        return None
    most = lasted[ceil(SHARE * len(lasted)) - 1]
    return UsualRun(runs=len(lasted), half=timedelta(seconds=median(lasted)), most=timedelta(seconds=most))
