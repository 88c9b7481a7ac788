"""Evidence about a fault: what was seen of it since its alert began, and what proved that it is over."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Self

from alerts.rules import Proof


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was seen of a fault since its alert began, against which a proof of its end is held."""

    since: datetime
    boot_id: str = ""  # of its node, when it was first seen
    gpus: int = 0  # the most that its node had
    was_short: bool = False  # GPUs of its node were not allocatable, or missing
    waiting: tuple[str, ...] = ()  # pods that waited for its volume, as namespace/name
    metric_failed: bool = False  # the proof query said that it is not well
    repaired_at: datetime | None = None  # an action that relieves it has worked
    holds_since: datetime | None = None  # a proof is seen to hold

    def restated(self, by: timedelta) -> Self:
        """Return the same evidence after a clock step of so much."""
        return replace(
            self,
            since=self.since + by,
            repaired_at=self.repaired_at and self.repaired_at + by,
            holds_since=self.holds_since and self.holds_since + by,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """What proved that a fault is over; for a person's word `who` said so, and perhaps the `reason`."""

    proof: Proof
    at: datetime
    since: datetime | None = None  # when it was first seen to hold
    gpus: int = 0  # that the node advertises
    is_rebooted: bool = False
    is_gone: bool = False  # the node has left the cluster
    pod: str = ""  # namespace/name: it waited for the volume, and runs
    who: str = ""
    who_name: str = ""
    reason: str = ""

    def restated(self, by: timedelta) -> Self:
        """Return the same proof after a clock step of so much."""
        return replace(self, at=self.at + by, since=self.since and self.since + by)
