"""The cluster cache: the objects of one cluster in memory, one reflector per kind."""

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from collectors.cluster import kinds as catalogue
from collectors.cluster.base import KubernetesObject
from collectors.cluster.discovery import Discovery
from collectors.cluster.kinds import ResourceKind
from collectors.cluster.object_store import ObjectChange, Snapshot
from collectors.cluster.reflector import Reflector
from collectors.cluster.reflector_state import ReflectorState, ReflectorTiming
from collectors.facts.clock import Clock
from collectors.facts.results import Blind
from collectors.facts.sentences import listed, sentence
from collectors.internal_errors import InternalErrors
from collectors.sources.kubernetes.source import KubernetesSource

__all__ = ["ClusterCache", "KindStatus", "ObjectChange", "ReflectorState", "ReflectorTiming", "Snapshot"]

T = TypeVar("T", bound=KubernetesObject)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindStatus:
    """The state of one kind in the cache, for doctor and metrics. `changes` counts since the start."""

    kind: str
    state: ReflectorState
    objects: int
    unreadable: int  # objects that are left out, because they cannot be decoded
    as_of: datetime | None
    age: timedelta | None  # since `as_of`, by the monotonic clock
    reason: str
    lists: int
    watches: int
    changes: int


class ClusterCache:
    """A cache of the kinds it may read. A kind it may not read is Blind, and the others still work.

    One task runs `run()`; all others read. Subscribers are called in the event loop, immediately and in order, and
    must be fast: nothing is queued for them.
    """

    def __init__(
        self,
        source: KubernetesSource,
        *,
        clock: Clock,
        kinds: Sequence[ResourceKind[Any]] | None = None,
        without: Collection[ResourceKind[Any]] = (),
        stale_after: timedelta = timedelta(seconds=90),
        name: str = "kubernetes",
        timing: ReflectorTiming | None = None,
        errors: InternalErrors | None = None,
    ) -> None:
        self.name = name
        self.version = 0
        self._clock = clock
        discovery = Discovery(source)
        self._reflectors: dict[str, Reflector[Any]] = {
            kind.name: Reflector(
                kind,
                source,
                clock=clock,
                on_change=self._publish,
                stale_after=stale_after,
                timing=timing,
                errors=errors,
                discovery=discovery,
            )
            for kind in (catalogue.DEFAULT_KINDS if kinds is None else kinds)
            if kind not in without
        }
        self.left_out = frozenset(
            kind.name for kind in without
        )  # on purpose: as if the cluster did not serve them
        self._subscribers: list[Callable[[ObjectChange], None]] = []

    @property
    def kinds(self) -> tuple[ResourceKind[Any], ...]:
        return tuple(one.kind for one in self._reflectors.values())

    async def run(self) -> None:
        """Run until cancelled."""
        async with asyncio.TaskGroup() as group:
            for reflector in self._reflectors.values():
                group.create_task(reflector.run(), name=f"cache {reflector.kind.name}")

    async def synced(self, timeout: timedelta) -> None:
        """Wait until each kind was listed or refused once. Raises TimeoutError that names the others."""
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                for reflector in self._reflectors.values():
                    await reflector.settled.wait()
        except TimeoutError:
            waiting = (one for one in self._reflectors.values() if not one.settled.is_set())
            late = listed((listed((one.kind.name, one.reason), ":") for one in waiting), ";")
            raise TimeoutError(sentence("not listed in time: {late}", late=late)) from None

    def snapshot(self, kind: ResourceKind[T]) -> Snapshot[T] | Blind:
        """Return the objects of a kind, or Blind: not listed yet, forbidden, or stale. A kind not served has none."""
        if (reflector := self._reflectors.get(kind.name)) is not None:
            return reflector.view(source=self.name)
        return Blind(
            source=self.name,
            at=self._clock.now(),
            reason=sentence("{kind} are not cached here", kind=kind.name),
        )

    def blind_kinds(self) -> frozenset[str]:
        """Return the names of the kinds that cannot be seen now."""
        return frozenset(name for name, one in self._reflectors.items() if one.blind_reason)

    def subscribe(self, callback: Callable[[ObjectChange], None]) -> Callable[[], None]:
        """Call `callback` on each change, until the returned function is called."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    def status(self) -> tuple[KindStatus, ...]:
        return tuple(
            KindStatus(
                kind=one.kind.name,
                state=one.state,
                objects=one.count,
                unreadable=len(one.unreadable),
                as_of=one.as_of,
                age=one.age,
                reason=one.reason,
                lists=one.lists,
                watches=one.watches,
                changes=one.changes,
            )
            for one in self._reflectors.values()
        )

    def _publish(self, change: ObjectChange) -> None:
        self.version += 1
        for callback in tuple(self._subscribers):
            try:
                callback(change)
            except Exception:  # one failing subscriber must not affect the others
                _log.exception("a subscriber failed on a change of %s %s", change.kind, change.key)
