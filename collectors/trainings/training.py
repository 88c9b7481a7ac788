"""This file has what is the same for every kind of training: its life, its ranks, whose it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from collectors.cluster.base import ObjectMeta
from collectors.cluster.inventory import Inventory

# Where a cluster says these things: annotations are read before labels, the first key that is there wins.
TRAINING_KEYS = ("yardmaster.io/training", "training")
ROLE_KEYS = ("yardmaster.io/role", "training.yardmaster.io/role", "role")
OWNER_KEYS = ("yardmaster.io/owner", "owner", "user")
TEAM_KEYS = ("yardmaster.io/team", "team")


class TrainingState(StrEnum):
    """Where a training stands. Stopped: it was meant to end, by a person, a deadline or its own deletion."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    SUSPENDED = "suspended"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"

    @property
    def is_over(self) -> bool:
        return self in (TrainingState.SUCCEEDED, TrainingState.FAILED, TrainingState.STOPPED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """One task of a training and the pod that does it now, or did. `why` is `reason` and code in words."""

    role: str  # worker, ps, chief, ...
    index: int
    pod: str
    node: str = ""
    phase: str = ""
    ready: bool = False
    gpus: float = 0  # of any GPU resource; 0 once it is over
    restarts: int = 0
    exit_code: int | None = None
    reason: str = ""
    explanation: str = ""
    started: datetime | None = None
    finished: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A training as the cluster shows it. `id` is namespace/name."""

    id: str
    kind: str
    namespace: str
    name: str
    owner: str = ""
    team: str = ""
    state: TrainingState
    reason: str = ""
    ranks: tuple[Rank, ...] = ()
    wanted: int = 0  # ranks that there should be
    gpus_wanted: float = 0
    failures: tuple[Rank, ...] = ()  # every end with an error, of earlier attempts too, the earliest first
    workloads: tuple[str, ...] = ()  # namespace/Kind/name of what it consists of
    has_namespace: bool = False  # the namespace is given over to it
    priority: str = ""
    created: datetime | None = None
    started: datetime | None = None
    finished: datetime | None = None

    @property
    def first_failure(self) -> Rank | None:
        """The rank that failed first: the others usually fell because of it."""
        return self.failures[0] if self.failures else None

    @property
    def gpus(self) -> float:
        """What it holds now."""
        return sum(rank.gpus for rank in self.ranks)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingKind:
    """One kind of training. `needs` are the cached kinds without which it cannot be read."""

    name: str
    needs: tuple[str, ...]
    read: Callable[[Inventory], tuple[Training, ...]]


def annotation_of(of: ObjectMeta, keys: tuple[str, ...]) -> str:
    """What an object says under the first of these keys, in annotations and then in labels."""
    places: tuple[Mapping[str, str], ...] = (of.annotations or {}, of.labels or {})
    return next((place[key] for key in keys for place in places if place.get(key)), "")
