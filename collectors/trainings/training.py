"""Trainings of any kind: state, ranks, owner and team."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import chain

from collectors.cluster.base import ObjectMeta
from collectors.facts.one_line import NAME, one_line
from collectors.trainings.retries import Retries

# Keys of annotations and labels. The first key that is present is used, annotations before labels.
TRAINING_KEYS = ("yardmaster.io/training", "training")
ROLE_KEYS = ("yardmaster.io/role", "training.yardmaster.io/role", "role")
OWNER_KEYS = ("yardmaster.io/owner", "owner", "user")
TEAM_KEYS = ("yardmaster.io/team", "team")
# What other systems call a person, behind a prefix: `workflows.argoproj.io/creator`, `hub.jupyter.org/username`.
_PERSON = ("owner", "user", "username", "creator", "created-by", "submitter", "submitted-by", "requester")
_FOREIGN = {OWNER_KEYS: _PERSON, TEAM_KEYS: ("team",)}
_ACCOUNT = "system:"  # of a program

TOGETHER = timedelta(seconds=30)  # tasks that end within it ended together


class TrainingState(StrEnum):
    """The state of a training. Stopped: ended on purpose, by a person, a deadline or its deletion."""

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
    """One task of a training and its current or last pod. `explanation` explains `reason` and `exit_code`.

    `words` are Kubernetes' own about it, and `disruption` is its reason to have ended it.
    """

    role: str  # worker, ps, chief, ...
    index: int
    pod: str
    node: str = ""
    phase: str = ""
    ready: bool = False
    gpus: float = 0  # of any GPU resource; 0 after its end
    restarts: int = 0
    exit_code: int | None = None
    reason: str = ""
    explanation: str = ""
    words: str = ""
    disruption: str = ""
    disrupted: datetime | None = None
    started: datetime | None = None
    finished: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A training in the cluster.

    Its key is that of its only top object, or of the namespace that is dedicated to it, and is what rows have. People
    read and type its name, which comes from an annotation or is that of the object: others may have the same one.
    """

    id: str  # its key
    kind: str  # as it stands in keys
    namespace: str
    name: str
    is_name_shared: bool = False  # another training of the cluster has the same name in the same namespace
    owner: str = ""
    team: str = ""
    state: TrainingState
    reason: str = ""
    ranks: tuple[Rank, ...] = ()
    wanted: int = 0  # ranks that it should have
    gpus_wanted: float = 0
    failures: tuple[Rank, ...] = ()  # every end with an error, including earlier attempts, the earliest first
    workloads: tuple[str, ...] = ()  # the keys of its parts
    owned: tuple[str, ...] = ()  # and of the workloads that those own
    restarts: int = 0  # of all its ranks together; those of one rank are the rank's
    retries: Retries | None = None  # that it has left when it loses a rank; None: not known
    has_namespace: bool = False  # the namespace is dedicated to it
    priority: str = ""
    queue: str = ""
    tool: str = ""  # what else manages its objects: a Helm release, Argo CD, ...
    has_sign: bool = True  # the controllers of its objects have taken them up
    progress: str = ""  # that it reports itself
    created: datetime | None = None
    started: datetime | None = None
    finished: datetime | None = None
    limit: timedelta | None = None  # it is ended so long after its start
    is_in_kueue: bool = False  # Kueue starts and suspends it

    @property
    def shown(self) -> str:
        """What people read, `namespace/name`: whatever else there is."""
        return f"{self.namespace}/{self.name}"

    @property
    def typed(self) -> str:
        """What people type for this training alone: its name, or its key where another has the same name."""
        return self.id if self.is_name_shared else self.shown

    @property
    def first_failure(self) -> Rank | None:
        """The rank that failed first: the others usually failed because of it."""
        return self.failures[0] if self.failures else None

    @property
    def first_failures(self) -> tuple[Rank, ...]:
        """The first failure and those at nearly the same time, which may as well be its reason."""
        first = self.first_failure
        if first is None or first.finished is None:
            return self.failures[:1]
        until = first.finished + TOGETHER
        return tuple(rank for rank in self.failures if rank.finished is not None and rank.finished <= until)

    @property
    def failed_together(self) -> tuple[str, ...]:
        """The nodes of the first failures."""
        return tuple(dict.fromkeys(rank.node for rank in self.first_failures if rank.node))

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of its tasks, also of those that have ended."""
        return tuple(sorted({rank.node for rank in (*self.ranks, *self.failures) if rank.node}))

    @property
    def gpus(self) -> float:
        """The GPUs that it holds now."""
        return sum(rank.gpus for rank in self.ranks)


def training_of_row(stored: str, trainings: Iterable[Training]) -> Training | None:
    """Return the training that a row is about, by its key.

    A row of before there were keys may have a name: it means the only training that is called so now.
    """
    called = []
    for training in trainings:
        if training.id == stored:
            return training
        if training.shown == stored:
            called.append(training)
    return called[0] if len(called) == 1 else None


def first_of(metas: Sequence[ObjectMeta], keys: tuple[str, ...]) -> str:
    """Return the value of these keys in the first object that has one; for an owner or a team, else of a key that
    another system made for the same."""
    found = (annotation_of(one, keys) for one in metas)
    foreign = (_foreign(one, end) for one in metas for end in _FOREIGN.get(keys, ()))
    return next(filter(None, chain(found, foreign)), "")


def _foreign(meta: ObjectMeta, end: str) -> str:
    """Return the value of the one key with this end behind a prefix; empty for two that differ."""
    values = {
        one_line(value, NAME)
        for source in (meta.annotations, meta.labels)
        for key, value in (source or {}).items()
        if key.endswith(f"/{end}") and value and not value.startswith(_ACCOUNT)
    }
    return values.pop() if len(values) == 1 else ""


def annotation_of(meta: ObjectMeta, keys: tuple[str, ...]) -> str:
    """Return the value of the first of these keys, from annotations or else from labels, as one short line."""
    sources: tuple[Mapping[str, str], ...] = (meta.annotations or {}, meta.labels or {})
    found = (one_line(source[key], NAME) for key in keys for source in sources if source.get(key))
    return next(filter(None, found), "")
