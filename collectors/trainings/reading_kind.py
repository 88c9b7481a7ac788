"""The port of a kind of training that is read: what its file in this folder defines."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from collectors.cluster.base import KubernetesObject, ObjectMeta
from collectors.cluster.gpu_claims import GpuClaims
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import NAMESPACES, ResourceKind
from collectors.cluster.objects import Pod
from collectors.trainings.retries import Retries
from collectors.trainings.training import TrainingState

T = TypeVar("T", bound=KubernetesObject)
Owned = tuple[KubernetesObject, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RolePods:
    """A role of a training: what was asked for, and its pods by rank, the oldest first."""

    role: str  # worker, ps, chief, ...
    replicas: int
    gpus: float  # of each
    pods: tuple[tuple[int, Pod], ...]
    least: int | None = None  # so many are enough, of an elastic role; None: it has all or none

    @property
    def needed(self) -> int:
        """How many must run, so that the training does."""
        return self.replicas if self.least is None else min(self.least, self.replicas)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPart:
    """What is read from one top object of a training, with all that it owns."""

    meta: ObjectMeta
    workload: str  # the key
    roles: tuple[RolePods, ...]
    ended: TrainingState | None = None
    reason: str = ""  # of its end
    is_suspended: bool = False
    is_server: bool = False  # it runs until it is stopped, so the training may be over without its end
    restarts: int = 0
    retries: Retries | None = None  # None: not known
    priority: str = ""
    queue: str = ""  # that it is in
    waits: str = ""  # why its queue holds it back
    has_sign: bool = True  # its controller has taken it up
    progress: str = ""  # that the training itself reports
    owned: tuple[str, ...] = ()  # the keys of the workloads that it owns
    started: datetime | None = None
    finished: datetime | None = None
    limit: int | None = None  # seconds after its start within which it has to end
    is_in_kueue: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingKind(Generic[T]):
    """One kind of training, read from its top objects.

    `is_training` says whether a top object is a training by itself; in a namespace that is dedicated to a training
    all of them belong to it. `owned` returns all objects that the part is read from, and `part` reads nothing else
    but the claims for devices in its namespace, which say how many GPUs a pod has: it is called again only when one
    of them is another.
    """

    objects: ResourceKind[T]
    summary: str  # which objects are trainings, for the docs
    is_training: Callable[[T, GpuClaims], bool]
    owned: Callable[[T, Inventory], Owned]
    part: Callable[[T, Owned, GpuClaims], TrainingPart]
    others: tuple[ResourceKind[Any], ...] = ()  # further cached kinds that are needed to read it
    hints: tuple[ResourceKind[Any], ...] = ()  # further ones that say more of it
    typed: str = ""  # the kind as it is typed, where another has its name already: `vcjob`

    @property
    def name(self) -> str:
        """The kind as it stands in keys."""
        return self.objects.kind_in_keys

    @property
    def option(self) -> str:
        """The kind as it is typed: `--kind jobset`."""
        return self.typed or self.objects.kind.lower()

    @property
    def watched(self) -> tuple[ResourceKind[Any], ...]:
        """All cached kinds that are looked at for it."""
        return (*self.needs, *self.hints)

    @property
    def needs(self) -> tuple[ResourceKind[Any], ...]:
        """The cached kinds without which not all trainings of this kind are known."""
        return (self.objects, *self.others, NAMESPACES)
