"""A cluster as the bot sees it: its watch may be silent, or a minute late."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import DEFAULT_KINDS
from collectors.facts.results import Blind, SourceError
from collectors.topology_builder import build_topology
from commands.execution.cluster_writer import ClusterWriter
from tests.support.objects import inventory, read
from tests.support.odd_api import OddApi
from tests.support.yard import CLUSTER, NOON, Hands

STALE_AFTER = timedelta(seconds=90)
LATE_BY = timedelta(seconds=60)
_TYPES = {kind.path.rpartition("/")[2]: kind.type for kind in reversed(DEFAULT_KINDS)}


@dataclass
class LateCluster:
    """The cluster as the bot sees it: its watch may be silent, or a minute late."""

    api: OddApi
    clock: Hands
    name: str = CLUSTER
    watch: str = "live"
    silent_since: datetime = NOON
    cache: None = None
    logs: None = None
    pod_logs: None = None
    _past: list[tuple[datetime, dict[Any, Any]]] = field(default_factory=list)
    _read: tuple[dict[Any, Any], Inventory] | None = None

    def __post_init__(self) -> None:
        self.reader = ClusterWriter(self.api)
        self.api.changed = self.note
        self.note()

    def note(self) -> None:
        self._past.append((self.clock.now(), self.api.objects))

    def turn(self, watch: str) -> None:
        if watch == "silent" and self.watch != "silent":
            self.silent_since = self.clock.now()
        self.watch = watch

    def refresh(self) -> Inventory | Blind:
        now, at = self.clock.now(), self.clock.now()
        if self.watch == "silent":
            at = self.silent_since
            if now - at > STALE_AFTER:
                return Blind(source="kubernetes", at=now, reason="nodes have not been seen for 90 s")
        elif self.watch == "late":
            at = now - LATE_BY
        seen = [objects for made_at, objects in self._past if made_at <= at][-1:] or [self._past[0][1]]
        if self._read is None or self._read[0] is not seen[0]:
            things = (
                read(_TYPES[plural], tree) for (plural, *_), tree in seen[0].items() if plural in _TYPES
            )
            self._read = seen[0], inventory(*things)
        return self._read[1]

    def inventory(self) -> Inventory:
        found = self.refresh()
        if isinstance(found, Blind):
            raise SourceError(found.reason)
        return found

    def trainings(self) -> tuple[()]:
        return ()

    def topology(self) -> Any:
        found = self.refresh()
        empty = inventory()
        return build_topology(empty if isinstance(found, Blind) else found, (), cluster=self.name)
