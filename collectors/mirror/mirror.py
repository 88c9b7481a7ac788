"""This file has the mirror: the kinds of one cluster kept in memory, each by its reflector."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from collectors.facts.clock import Clock
from collectors.facts.results import Blind
from collectors.mirror.base import Object
from collectors.mirror.kinds import DEFAULT_KINDS, Kind
from collectors.mirror.reflector import Change, Pace, Phase, Reflector, Snapshot
from collectors.sources.kubernetes import KubernetesSource

__all__ = ["Change", "KindReport", "Mirror", "Pace", "Phase", "Snapshot"]

T = TypeVar("T", bound=Object)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindReport:
    """How the mirror of one kind is, for doctor and metrics. `changes` counts since the start."""

    kind: str
    phase: Phase
    objects: int
    as_of: datetime | None
    why: str
    lists: int
    watches: int
    changes: int


class Mirror:
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
        kinds: Sequence[Kind[Any]] = DEFAULT_KINDS,
        stale_after: timedelta = timedelta(seconds=90),
        name: str = "kubernetes",
        pace: Pace | None = None,
    ) -> None:
        self.name = name
        self.version = 0
        self._clock = clock
        self._reflectors: dict[str, Reflector[Any]] = {
            kind.name: Reflector(
                kind, source, clock=clock, on_change=self._tell, stale_after=stale_after, pace=pace
            )
            for kind in kinds
        }
        self._subscribers: list[Callable[[Change], None]] = []
        self._stirred: asyncio.Event | None = None  # there while somebody waits

    async def run(self) -> None:
        """For ever; cancel it to stop."""
        async with asyncio.TaskGroup() as group:
            for reflector in self._reflectors.values():
                group.create_task(reflector.run(), name=f"mirror {reflector.kind.name}")

    async def synced(self, timeout: timedelta) -> None:
        """Wait until each kind was listed once or is known to be refused. Raises TimeoutError that names the rest."""
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                for reflector in self._reflectors.values():
                    await reflector.settled.wait()
        except TimeoutError:
            late = "; ".join(
                f"{one.kind.name}: {one.why}" for one in self._reflectors.values() if not one.settled.is_set()
            )
            raise TimeoutError(f"not seen in time: {late}") from None

    def snapshot(self, kind: Kind[T]) -> Snapshot[T] | Blind:
        """What is known of a kind, or why nothing is: not listed yet, forbidden, not served, or too old."""
        if (reflector := self._reflectors.get(kind.name)) is not None:
            return reflector.view(source=self.name)
        return Blind(source=self.name, at=self._clock.now(), reason=f"{kind.name} are not mirrored here")

    def blind_kinds(self) -> frozenset[str]:
        """The names of the kinds that cannot be seen now."""
        return frozenset(
            name for name, one in self._reflectors.items() if isinstance(one.view(source=self.name), Blind)
        )

    def is_absent(self, kind: Kind[Any]) -> bool:
        """Whether the cluster is known not to serve this kind, so that there can be none."""
        reflector = self._reflectors.get(kind.name)
        return reflector is not None and reflector.phase is Phase.ABSENT

    async def changed(self, after: int) -> int:
        """Wait until the version is greater than `after`; gives the version then. Bound the wait yourself."""
        while self.version <= after:
            self._stirred = self._stirred or asyncio.Event()
            await self._stirred.wait()
        return self.version

    def subscribe(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Have each change told to `callback`; call what comes back to end it."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    def report(self) -> tuple[KindReport, ...]:
        return tuple(
            KindReport(
                kind=one.kind.name,
                phase=one.phase,
                objects=one.count,
                as_of=one.as_of,
                why=one.why,
                lists=one.lists,
                watches=one.watches,
                changes=one.changes,
            )
            for one in self._reflectors.values()
        )

    def _tell(self, change: Change) -> None:
        self.version += 1
        if self._stirred is not None:
            self._stirred.set()
            self._stirred = None
        for callback in tuple(self._subscribers):
            try:
                callback(change)
            except Exception:  # one faulty listener must not blind the others
                _log.exception("a listener failed on a change of %s %s", change.kind, change.key)
