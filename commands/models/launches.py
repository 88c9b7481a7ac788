"""Stored rows of trainings that were launched, of notices about them, and of logs that are followed."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.store import stored
from collectors.trainings.training import Rank


@stored(
    "launches",
    "cluster",
    "state",
    over=lambda launch: (launch.reported_at or launch.at) if launch.is_over else None,
    floats=lambda launch: (
        launch.gpus,
        launch.peak_memory or 0,
        launch.first.gpus if launch.first is not None else 0,
    ),
    in_plans=True,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A training that is followed, and what was last reported. `id` is the cluster and the key.

    One that was not launched from chat is its owner's: `by` is the person, if one is known, and `at` when it was made.
    """

    id: str
    cluster: str
    training: str  # its key
    name: str = ""  # of the training, as people read it: namespace/name
    by: str
    by_name: str
    at: datetime
    channel: str
    thread: str = ""
    plan: str = ""
    reported_state: str = ""  # the state reported last: queued, running, failed, ...
    reported_reason: str = ""
    reported_at: datetime | None = None
    last_lines: tuple[str, ...] = ()  # of the first failing task
    failed_at: datetime | None = None  # when that task failed
    failed_on: str = ""  # its node, if what happened there may be the reason
    is_over: bool = False
    is_launched: bool = True  # from chat
    place: str = ""  # in its queue, while it waits
    cause: str = ""  # of its failure, as a FailureKind
    first: Rank | None = None  # the task that failed first, and not one that failed of it
    first_line: str = ""  # about the error
    by_whom: str = ""  # who suspended or stopped it, if that is known
    started: datetime | None = None
    finished: datetime | None = None
    gpus: float = 0  # that it asks for
    peak_memory: float | None = None  # of its GPUs together, in MiB

    @property
    def shown(self) -> str:
        return self.name or self.training

    @property
    def state(self) -> str:
        """Indexed in the store: live or over."""
        return "over" if self.is_over else "live"


@stored(
    "training_notices",
    "cluster",
    "training",
    "at",
    over=lambda notice: notice.at,
    floats=lambda notice: (
        notice.gpus,
        *(rank.gpus for rank in notice.failures),
        notice.first.gpus if notice.first is not None else 0,
    ),
)
@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingNotice:
    """What the owner of a training and their team were notified of: that it failed, or cannot compute.

    It is kept after its training is gone, so that people can still read why it failed.
    """

    id: str
    cluster: str
    training: str  # its key
    name: str  # as people read it: namespace/name
    typed: str  # what people type for it alone
    owner: str = ""  # as named in the cluster
    owner_id: str = ""  # the person; empty when unknown
    team: str = ""
    alert: str  # Alert.id
    since: datetime  # of the alert
    at: datetime  # when the training failed; else since when the alert fires
    summary: str  # of the alert, and its texts
    texts: tuple[str, ...] = ()
    gpus: float = 0  # that it holds, or wanted when it failed
    failed_at: datetime | None = None  # the end of the training that has failed
    failures: tuple[
        Rank, ...
    ] = ()  # the first of its tasks that failed, and those that failed together with it
    nodes: tuple[str, ...] = ()  # of all its tasks
    last_lines: tuple[str, ...] = ()  # of the task that failed first
    cause: str = ""  # of its failure, as a FailureKind
    first: Rank | None = None  # the task that failed first, and not one that failed of it
    first_line: str = ""  # about the error
    plan: str = ""  # that launched it
    is_direct: bool = False  # the owner has a direct message

    @property
    def has_failed(self) -> bool:
        return self.failed_at is not None


FOLLOWED_EVERY = timedelta(seconds=5)


@stored("log_follows", "cluster", "state", "next_at", over=lambda one: one.until if one.is_over else None)
@dataclass(frozen=True, slots=True, kw_only=True)
class LogFollow:
    """The log of a task that somebody follows for a few minutes, and its last lines, which a card shows."""

    id: str
    cluster: str
    training: str  # its key
    name: str  # what people read: the training and the task
    namespace: str
    pod: str
    by: str
    by_name: str
    at: datetime
    until: datetime
    looked_at: datetime | None = None
    lines: tuple[str, ...] = ()  # the last ones, already redacted
    problem: str = ""  # why it could not be read, if so
    is_over: bool = False

    @property
    def state(self) -> str:
        """Indexed in the store: live or over."""
        return "over" if self.is_over else "live"

    @property
    def next_at(self) -> datetime | None:
        """Indexed in the store: when it is read again."""
        return None if self.is_over else (self.looked_at or self.at) + FOLLOWED_EVERY
