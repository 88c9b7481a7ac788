"""This file has the cache: the kinds of one cluster kept in memory, each by its reflector."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from collectors.cluster.base import KubernetesObject
from collectors.cluster.kinds import DEFAULT_KINDS, ResourceKind
from collectors.cluster.reflector import ObjectChange, Reflector, ReflectorState, ReflectorTiming, Snapshot
from collectors.facts.clock import Clock
from collectors.facts.results import Blind
from collectors.sources.kubernetes.source import KubernetesSource

__all__ = ["ClusterCache", "KindStatus", "ObjectChange", "ReflectorState", "ReflectorTiming", "Snapshot"]

T = TypeVar("T", bound=KubernetesObject)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindStatus:
    """How the cache of one kind is, for doctor and metrics. `changes` counts since the start."""

    kind: str
    state: ReflectorState
    objects: int
    as_of: datetime | None
    reason: str
    lists: int
    watches: int
    changes: int


class ClusterCache:
    """Keeps what it may see. What it may not, is Blind by name, and the rest still works.

    One owner runs `run()`; everybody else reads. Subscribers are called in the loop, at once and in order,
    and must be quick: nothing is queued for them. `changed()` is for those who only need to know that they
    should look again.
    """

    def __init__(
        self,
        source: KubernetesSource,
        *,
        clock: Clock,
        kinds: Sequence[ResourceKind[Any]] = DEFAULT_KINDS,
        stale_after: timedelta = timedelta(seconds=90),
        name: str = "kubernetes",
        timing: ReflectorTiming | None = None,
    ) -> None:
        self.name = name
        self.version = 0
        self._clock = clock
        self._reflectors: dict[str, Reflector[Any]] = {
            kind.name: Reflector(
                kind, source, clock=clock, on_change=self._publish, stale_after=stale_after, timing=timing
            )
            for kind in kinds
        }
        self._subscribers: list[Callable[[ObjectChange], None]] = []
        self._changed: asyncio.Event | None = None  # there while somebody waits

    async def run(self) -> None:
        """For ever; cancel it to stop."""
        async with asyncio.TaskGroup() as group:
            for reflector in self._reflectors.values():
                group.create_task(reflector.run(), name=f"cache {reflector.kind.name}")

    async def synced(self, timeout: timedelta) -> None:
        """Wait until each kind was listed once or is known to be refused. Raises TimeoutError that names the rest."""
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                for reflector in self._reflectors.values():
                    await reflector.settled.wait()
        except TimeoutError:
            late = "; ".join(
                f"{one.kind.name}: {one.reason}"
                for one in self._reflectors.values()
                if not one.settled.is_set()
            )
            raise TimeoutError(f"not seen in time: {late}") from None

    def snapshot(self, kind: ResourceKind[T]) -> Snapshot[T] | Blind:
        """What is known of a kind, or why nothing is: not listed yet, forbidden, not served, or too old."""
        if (reflector := self._reflectors.get(kind.name)) is not None:
            return reflector.view(source=self.name)
        return Blind(source=self.name, at=self._clock.now(), reason=f"{kind.name} are not cached here")

    def blind_kinds(self) -> frozenset[str]:
        """The names of the kinds that cannot be seen now."""
        return frozenset(
            name for name, one in self._reflectors.items() if isinstance(one.view(source=self.name), Blind)
        )

    def is_absent(self, kind: ResourceKind[Any]) -> bool:
        """Whether the cluster is known not to serve this kind, so that there can be none."""
        reflector = self._reflectors.get(kind.name)
        return reflector is not None and reflector.state is ReflectorState.ABSENT

    async def changed(self, after: int) -> int:
        """Wait until the version is greater than `after`; gives the version then. Bound the wait yourself."""
        while self.version <= after:
            self._changed = self._changed or asyncio.Event()
            await self._changed.wait()
        return self.version

    def subscribe(self, callback: Callable[[ObjectChange], None]) -> Callable[[], None]:
        """Have each change told to `callback`; call what comes back to end it."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    def status(self) -> tuple[KindStatus, ...]:
        return tuple(
            KindStatus(
                kind=one.kind.name,
                state=one.state,
                objects=one.count,
                as_of=one.as_of,
                reason=one.reason,
                lists=one.lists,
                watches=one.watches,
                changes=one.changes,
            )
            for one in self._reflectors.values()
        )

    def _publish(self, change: ObjectChange) -> None:
        self.version += 1
        if self._changed is not None:
            self._changed.set()
            self._changed = None
        for callback in tuple(self._subscribers):
            try:
                callback(change)
            except Exception:  # one faulty listener must not blind the others
                _log.exception("a listener failed on a change of %s %s", change.kind, change.key)
