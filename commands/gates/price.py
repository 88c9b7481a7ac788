"""The price of a disruption: what is at stake in all, and what costs least. Pure."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import msgspec

from collectors.facts.sentences import Sentence, counted, listed
from collectors.trainings.training import Training
from commands.execution.stake import Stake

HOUR = 3600.0  # seconds
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """All that a plan puts at stake; what costs least is first."""

    stakes: tuple[Stake, ...]

    @property
    def gpu_hours(self) -> float:
        """Those that are known, of all trainings."""
        return sum(one.gpu_hours or 0 for one in self.stakes)

    @property
    def unknown(self) -> tuple[Stake, ...]:
        """The trainings whose work since the last checkpoint is not known."""
        return tuple(one for one in self.stakes if one.is_training and one.gpu_hours is None)

    @property
    def said(self) -> Sentence | str:
        """`20.5 GPU-hours of 2 trainings since their last checkpoints; 1 training with an unknown number`."""
        trainings = [one for one in self.stakes if one.is_training]
        known = len(trainings) - len(self.unknown)
        parts: list[str] = []
        if known:
            hours = counted("{count:g} GPU-hour", "{count:g} GPU-hours", count=round(self.gpu_hours, 1))
            parts.append(
                counted(
                    "{hours} of {count} training since its last checkpoint",
                    "{hours} of {count} trainings since their last checkpoints",
                    hours=hours,
                    count=known,
                )
            )
        if self.unknown:
            parts.append(
                counted(
                    "an unknown number of GPU-hours of {count} training",
                    "an unknown number of GPU-hours of {count} trainings",
                    count=len(self.unknown),
                )
            )
        others = [one for one in self.stakes if not one.is_training]
        if fewer := sum(bool(one.left) for one in others):
            parts.append(
                counted(
                    "{count} service with fewer replicas", "{count} services with fewer replicas", count=fewer
                )
            )
        if gone := sum(one.left == 0 for one in others):
            parts.append(
                counted("{count} service with no replica", "{count} services with no replica", count=gone)
            )
        if dark := sum(one.left is None for one in others):
            parts.append(
                counted(
                    "{count} workload whose remaining replicas are not known",
                    "{count} workloads whose remaining replicas are not known",
                    count=dark,
                )
            )
        return listed(parts, ";") if parts else ""

    @property
    def as_json(self) -> str:
        """Return it as JSON: figures that are not known are null."""
        return msgspec.json.encode(
            {
                "gpu_hours": round(self.gpu_hours, 2),
                "gpu_hours_are_complete": not self.unknown,
                "ends": [
                    {
                        "name": one.name,
                        "shown": str(one.shown),
                        "owner": one.owner,
                        "team": one.team,
                        "kind": "training" if one.is_training else "workload",
                        "gpus": one.gpus,
                        "gpu_hours": None if one.gpu_hours is None else round(one.gpu_hours, 2),
                        "replicas": one.replicas,
                        "replicas_left": one.left,
                    }
                    for one in self.stakes
                ],
            }
        ).decode()


def price_of(stakes: Iterable[Stake]) -> Price:
    """Return the price of these stakes."""
    return Price(stakes=tuple(sorted(stakes, key=pain)))


def pain(stake: Stake) -> tuple[int, float, str]:
    """Return by what stakes are ordered: a service that keeps replicas, known work from less to more, what is unknown.

    A service of which nothing is left, and a pod that nothing starts again, cost more than a training that resumes.
    """
    if stake.is_training:
        return (
            (1, stake.gpu_hours, stake.name) if stake.gpu_hours is not None else (3, stake.gpus, stake.name)
        )
    if stake.left is None:
        return (3, stake.gpus, stake.name)
    return (0, -stake.left, stake.name) if stake.left else (2, stake.gpus, stake.name)


def least_first(items: Iterable[T], stake_of: Callable[[T], str], stakes: Iterable[Stake]) -> list[T]:
    """Return the items in the order of the pain of what they end. `stake_of`: the name of an item's stake."""
    place = {one.name: number for number, one in enumerate(price_of(stakes).stakes)}
    return sorted(items, key=lambda item: place.get(stake_of(item), len(place)))


def lost_gpu_hours(training: Training, saved_at: datetime | None, now: datetime) -> float | None:
    """Return the GPU-hours since the last checkpoint, of all ranks: without one of them all begin there again.

    None if it is not known when that was, or since when a rank runs. A rank has worked since its own start at most.
    """
    running = [rank for rank in training.ranks if rank.phase == "Running"]
    if not running or not training.gpus:
        return 0.0
    if saved_at is None or any(rank.started is None for rank in running):
        return None
    since = [(rank, max(saved_at, rank.started)) for rank in running if rank.started is not None]
    return sum(rank.gpus * max(0.0, (now - at).total_seconds()) / HOUR for rank, at in since)


def stake_of_training(training: Training, *, gpus: float, saved_at: datetime | None, now: datetime) -> Stake:
    """Return what is at stake of a training. `gpus`: those that end."""
    return Stake(
        name=training.id,
        shown=training.shown,
        owner=training.owner,
        team=training.team,
        gpus=gpus,
        is_training=True,
        gpu_hours=lost_gpu_hours(training, saved_at, now),
    )
