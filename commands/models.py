"""Stored rows of commands: persons, audit entries, due commands, leases, reclaim requests, launches, requests."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from alerts.store import stored
from collectors.facts.redaction import redacted
from collectors.trainings.training import Rank


@stored("people")
@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who does something, whatever the id they come by. Rows name them by `id` or, from before their ids
    were joined in the settings, by another of `ids`. No two rows have an id in common."""

    id: str  # the id under which rows name them
    ids: tuple[str, ...]  # all of them, `id` included
    name: str = ""  # as last shown


# What an entry says. A line: asked or refused; a plan: confirmed, held back, and its end; a breaker: opened, closed.
AUDITED = (
    "asked",
    "refused",
    "confirmed",
    "held",
    "trial",
    "done",
    "failed",
    "cancelled",
    "opened",
    "closed",
)


@stored("audit", "cluster", "actor", "plan", "at", append_only=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """An entry of the audit log: written before an action and again with its outcome, or once for a refusal."""

    id: str
    cluster: str
    at: datetime
    actor: str  # a person, or an automation
    actor_name: str
    line: str
    what: str  # one of AUDITED
    plan: str = ""
    text: str = ""
    price: str = ""  # what the plan puts at stake
    about: tuple[
        str, ...
    ] = ()  # names of what a plan concerns; a line that was asked or refused names it itself

    def __post_init__(self) -> None:
        object.__setattr__(self, "line", redacted(self.line))
        object.__setattr__(self, "text", redacted(self.text))


@stored("agenda", "cluster", "at", in_plans=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class DueCommand:
    """A command line that automation runs at a given time: an entry of the agenda."""

    id: str
    cluster: str
    at: datetime
    line: str
    actor: str  # the automation that runs it, such as automation:reclaim
    channel: str = ""  # where the card of its plan is posted; empty: in the default channel

    @property
    def request(self) -> str:
        """The id of the request that runs it: a different one for each time at which it is due."""
        return f"due/{self.id}/{self.at.isoformat()}"


@stored("leases", "cluster", "node", "remind_at", in_plans=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class CordonLease:
    """A cordon made by us. Reaching `until` only reminds; proof of health ends it. `id` is cluster/node.

    It also ends when its node has left the cluster: another one of that name has another `uid`.
    """

    id: str
    cluster: str
    node: str
    owner: str  # a person
    owner_name: str
    teams: tuple[str, ...] = ()  # of the owner, who may extend and end it as well
    reason: str
    since: datetime
    until: datetime | None = None
    incident: str = ""
    reminded_at: datetime | None = None
    uid: str = ""  # of the node; empty in leases from before it was kept
    plan: str = ""  # the last that recorded it
    lifted_at: datetime | None = None  # when somebody else was seen to have lifted the cordon

    @property
    def remind_at(self) -> datetime | None:
        """Indexed in the store: when its owner is to be reminded, once."""
        return self.until if self.reminded_at is None else None


@stored("gpu_leases", "cluster", "node", "remind_at", in_plans=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class GpuLease:
    """A cordon of one GPU made by us: a rule that taints its device. Reaching `until` only reminds.

    `id` is cluster/node/device.
    """

    id: str
    cluster: str
    node: str
    device: str  # its name in its driver's list
    gpu: str  # as people name it: its index, or its device
    rule: str  # the DeviceTaintRule
    owner: str  # a person
    owner_name: str
    reason: str
    since: datetime
    until: datetime
    incident: str = ""
    reminded_at: datetime | None = None
    plan: str = ""  # the last that recorded it

    @property
    def remind_at(self) -> datetime | None:
        """Indexed in the store: when its owner is to be reminded, once."""
        return self.until if self.reminded_at is None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedNode:
    """A node that a daily reminder names, as it was then."""

    cluster: str
    node: str
    since: datetime
    reason: str
    waits_for: str
    is_past_its_end: bool = False


@stored("daily_reminders", "owner", "due_at", over=lambda one: one.said_at)
@dataclass(frozen=True, slots=True, kw_only=True)
class DailyReminder:
    """What the owner of cordons reads once a day. The next one of each owner is stored before it is due."""

    id: str  # the owner and `at`
    owner: str  # a person
    owner_name: str
    at: datetime
    said_at: datetime | None = None
    nodes: tuple[LeasedNode, ...] = ()
    is_direct: bool = False  # the owner has a direct message
    cluster: str = ""  # it is about several

    @property
    def due_at(self) -> datetime | None:
        """Indexed in the store: when it is to be said, once."""
        return self.at if self.said_at is None else None


@stored("node_evidence", "cluster", "node", "plan", "incident", over=lambda evidence: evidence.at)
@dataclass(frozen=True, slots=True, kw_only=True)
class NodeEvidence:
    """A file of what was known of a node at a time: before a plan touched it, or when somebody asked."""

    id: str
    cluster: str
    node: str
    at: datetime
    text: str  # redacted
    plan: str = ""
    incident: str = ""


class ReclaimState(StrEnum):
    ASKED = "asked"
    KEPT = "kept"
    SNOOZED = "snoozed"
    FREED = "freed"
    AGREED = "agreed"  # what a plan ends may end
    AFTER_CHECKPOINT = "after-checkpoint"  # it may once its next checkpoint is written
    VOID = "void"  # the training ended or was busy again first


OPEN_REQUEST = frozenset({ReclaimState.ASKED, ReclaimState.SNOOZED, ReclaimState.AFTER_CHECKPOINT})


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingAnswer:
    """An owner's answer about one training of a request that is about several."""

    training: str  # its key
    state: ReclaimState
    by: str = ""
    at: datetime | None = None
    until: datetime | None = None  # how long it is needed
    reason: str = ""


@stored(
    "reclaim_requests",
    "cluster",
    "state",
    "training",
    "remind_at",
    "settle_at",
    "for_plan",
    "look_at",
    over=lambda reclaim: (
        None if reclaim.state in OPEN_REQUEST else reclaim.answered_at or reclaim.grace_until
    ),
    floats=lambda reclaim: (reclaim.gpus,),
    in_plans=True,
)
@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimRequest:
    """A request to an owner: to give idle GPUs back, or to let a plan end their trainings, which waits for the answer.

    A plan makes one request to each owner: `training` is one of what it is about, `also` are the others. It is answered
    as a whole, or each by itself in `answers`. Without an answer by `grace_until` idle GPUs are reclaimed; what a plan
    does then is a setting.
    """

    id: str
    cluster: str
    training: str  # its key
    name: str = ""  # of the training, or of all of them, as people read it: namespace/name
    owner: str  # as named in the cluster
    owner_id: str  # the person; empty when unknown
    gpus: float
    asked_by: str
    asked_by_name: str
    asked_at: datetime
    grace_until: datetime
    state: ReclaimState = ReclaimState.ASKED
    answered_by: str = ""
    answered_at: datetime | None = None
    keep_reason: str = ""  # why it is kept, or closed; of old rows, that it was deleted
    evidence: str = ""  # why the GPUs are considered idle; of a plan, what is at stake
    is_automatic: bool = True  # without an answer automation settles it
    channel: str = ""
    for_plan: str = ""  # the plan that waits for the answer
    also: tuple[str, ...] = ()  # keys of the other trainings that the answer is about
    labels: tuple[str, ...] = ()  # of all trainings, as people read them
    answers: tuple[TrainingAnswer, ...] = ()  # about single trainings
    plan_title: str = ""

    @property
    def settle_at(self) -> datetime | None:
        """Indexed in the store: when automation is to settle it."""
        return self.grace_until if self.state in OPEN_REQUEST and self.is_automatic else None

    @property
    def remind_at(self) -> datetime | None:
        """Indexed in the store: when its owner is reminded at half time, or notified that nobody answered."""
        if self.state is ReclaimState.ASKED and (self.is_automatic or self.for_plan):
            return self.asked_at + (self.grace_until - self.asked_at) / 2
        return self.grace_until if self.state is ReclaimState.FREED and not self.answered_by else None

    @property
    def look_at(self) -> datetime | None:
        """Indexed in the store: since when the training is looked at, for what makes an answer needless.

        One that was agreed to is looked at until its plan has gone on, or not.
        """
        is_looked_at = self.state in OPEN_REQUEST or self.state is ReclaimState.AGREED
        return self.asked_at if self.for_plan and is_looked_at else None

    @property
    def shown(self) -> str:
        return self.name or self.training

    @property
    def trainings(self) -> tuple[str, ...]:
        """The keys of all trainings that the answer is about."""
        return (self.training, *self.also)


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


@stored("handled_requests", "at", over=lambda request: request.at)  # its cluster is not known yet
@dataclass(frozen=True, slots=True, kw_only=True)
class HandledRequest:
    """A typed line or a click that was accepted. The sender sets the id, so a redelivery is recognized."""

    id: str
    at: datetime
    is_done: bool = False  # its effect is stored: it must not run again, even if it was interrupted
