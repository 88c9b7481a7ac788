"""The controller protocol, and the settings of the controllers."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from demo.lookalikes.kubernetes.store import Change, ObjectKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the controllers behave. Durations are of the cluster's clock, except `tick`, which is real time."""

    tick: timedelta = timedelta(milliseconds=100)
    node_grace: timedelta | None = timedelta(seconds=50)  # then a silent node becomes Unknown; None: never
    lost_pod_grace: timedelta = timedelta(seconds=40)  # then the pods of a deleted node are removed
    schedule: bool = True


class Controller(Protocol):
    """One loop of the control plane. It must accept keys of objects that no longer exist."""

    def concerns(self, change: Change) -> Iterable[ObjectKey]:
        """Return the keys to reconcile after a change."""
        ...

    def reconcile(self, key: ObjectKey) -> datetime | None:
        """Reconcile the object, and return when to do so again without a change, or None."""
        ...
