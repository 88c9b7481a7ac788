"""Stored rows of cordons that we made, and of what reminds their owners."""

from dataclasses import dataclass
from datetime import datetime

from alerts.store import stored


@stored("leases", "cluster", "node", "remind_at", in_plans=True, names_last_plan=True)
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


@stored("gpu_leases", "cluster", "node", "remind_at", in_plans=True, names_last_plan=True)
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
