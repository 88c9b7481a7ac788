"""This file has what commands keep: audit entries, things due, cordon leases, claims, launches, gestures."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One line of the record. An intent stands before the deed, its outcome after it; a refusal stands alone."""

    id: str
    cluster: str
    at: datetime
    actor: str
    actor_name: str
    line: str
    what: str  # asked, refused, proposed, confirmed, done, failed, cancelled
    plan: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueCommand:
    """A command line that is to be run at a moment, by a robot: the one agenda."""

    id: str
    cluster: str
    at: datetime
    line: str
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CordonLease:
    """A cordon of ours. Reaching `until` only reminds; proof of health ends it. `id` is cluster/node."""

    id: str
    cluster: str
    node: str
    owner: str
    owner_name: str
    reason: str
    since: datetime
    until: datetime | None = None
    incident: str = ""
    reminded_at: datetime | None = None


class ReclaimState(StrEnum):
    ASKED = "asked"
    KEPT = "kept"
    SNOOZED = "snoozed"
    FREED = "freed"
    VOID = "void"  # the training ended, or worked again, before it came to that


@dataclass(frozen=True, slots=True, kw_only=True)
class ReclaimRequest:
    """A request to an owner to give idle GPUs back. Without an answer by `grace_until` they are taken."""

    id: str
    cluster: str
    training: str
    owner: str  # as the cluster names them
    owner_id: str  # in chat; empty when not known there
    gpus: float
    asked_by: str
    asked_by_name: str
    asked_at: datetime
    grace_until: datetime
    state: ReclaimState = ReclaimState.ASKED
    answered_by: str = ""
    answered_at: datetime | None = None
    keep_reason: str = ""
    evidence: str = ""  # why we think them idle
    is_for_good: bool = False  # the training cannot be suspended, only deleted
    channel: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A training launched from chat, and what its owner was told last. `id` is cluster/namespace/name."""

    id: str
    cluster: str
    training: str  # namespace/name
    by: str
    by_name: str
    at: datetime
    channel: str
    thread: str = ""
    plan: str = ""
    reported_state: str = ""  # the last life that was told: queued, running, failed, ...
    reported_reason: str = ""
    reported_at: datetime | None = None
    last_lines: tuple[str, ...] = ()  # of the first failing task
    is_over: bool = False

    @property
    def state(self) -> str:
        """For look-ups in the store: live or over."""
        return "over" if self.is_over else "live"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandledRequest:
    """A typed line or a click that was taken in. Its id is the sender's own, so that a redelivery is known."""

    id: str
    at: datetime
