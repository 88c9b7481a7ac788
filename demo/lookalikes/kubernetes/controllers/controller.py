"""What a controller is, and how the controllers behave."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from demo.lookalikes.kubernetes.store import Change, ObjectKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the controllers behave. Times are of the cluster's clock, but for `tick`, which really passes."""

    tick: timedelta = timedelta(milliseconds=100)
    node_grace: timedelta | None = timedelta(seconds=50)  # a silent node turns Unknown; None: never
    lost_pod_grace: timedelta = timedelta(seconds=40)  # pods of a node that is gone
    schedule: bool = True


class Controller(Protocol):
    """One loop of the control plane. It must bear to be asked about keys that exist no more."""

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        """Return the keys to look at again after a change."""
        ...

    def reconcile(self, key: ObjectKey) -> datetime | None:
        """Make it so; returns when to look again without any change, or None."""
        ...
