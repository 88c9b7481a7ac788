"""Stored rows of questions to owners about their GPUs."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from alerts.store import stored


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
