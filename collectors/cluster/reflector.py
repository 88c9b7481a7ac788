"""This file keeps one kind of object as the cluster has it: list, then watch, for ever, losing nothing.

An end of a watch is normal, a lost line is made good by listing again, and what cannot be seen is said:
the view is Blind rather than old. What has become old is listed again: of a quiet kind a watch would say nothing.
"""

import asyncio
import random
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import msgspec

from collectors.cluster.base import KubernetesObject
from collectors.cluster.decoder import KindDecoder, WatchEventType
from collectors.cluster.kinds import ResourceKind
from collectors.facts.clock import Clock, in_words
from collectors.facts.results import Blind, SourceError
from collectors.sources.kubernetes.api_status import error_from
from collectors.sources.kubernetes.source import KubernetesSource

T = TypeVar("T", bound=KubernetesObject)


class ReflectorState(StrEnum):
    STARTING = "starting"
    LISTING = "listing"
    WATCHING = "watching"
    WAITING = "waiting"  # something failed; it tries again soon
    FORBIDDEN = "forbidden"
    ABSENT = "absent"  # the cluster does not serve this kind


class ObjectChange(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One object changed. `before` is None when it is new, `after` when it is gone.

    A Struct, since a first list makes thousands of them at once.
    """

    kind: str
    key: str
    before: Any
    after: Any
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot(Generic[T]):
    """All objects of one kind, as of a moment: nothing that the server did before `at` is missing."""

    kind: str
    at: datetime
    objects: Mapping[str, T]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectorTiming:
    """How a reflector takes its time. Seconds, because they go to timers."""

    watch: float = 40
    grace: float = 10  # after that much more without an end, a watch is taken for dead
    first_wait: float = 0.2
    longest_wait: float = 30
    refused_wait: float = 60  # after 403 and 404: somebody has to do something first
    page: int = 500
    rewind_check: float = 300  # how often the server's version is compared with ours


class Reflector(Generic[T]):
    """One kind, kept by `run()`, read by `view()`."""

    def __init__(
        self,
        kind: ResourceKind[T],
        source: KubernetesSource,
        *,
        clock: Clock,
        on_change: Callable[[ObjectChange], None],
        stale_after: timedelta = timedelta(seconds=90),
        timing: ReflectorTiming | None = None,
        chance: random.Random | None = None,
    ) -> None:
        self.kind = kind
        self.state = ReflectorState.STARTING
        self.reason = "it has not been listed yet"
        self.as_of: datetime | None = None
        self.lists = self.watches = self.changes = 0
        self.settled = asyncio.Event()  # listed once, or known to be refused
        self._source = source
        self._clock = clock
        self._on_change = on_change
        self._stale_after = stale_after
        self._timing = timing or ReflectorTiming()
        self._chance = chance or random.Random()
        self._decoder = KindDecoder(kind)
        self._objects: dict[str, T] = {}
        self._shown: Mapping[str, T] | None = None
        self._version = ""  # of the last line; empty: list first
        self._wait = self._timing.first_wait
        self._checked = 0.0

    @property
    def count(self) -> int:
        """How many objects it holds."""
        return len(self._objects)

    @property
    def is_stale(self) -> bool:
        """Whether it was listed once, and what it holds is too old to be shown."""
        return self.as_of is not None and self._clock.now() - self.as_of > self._stale_after

    def view(self, *, source: str) -> Snapshot[T] | Blind:
        now = self._clock.now()
        if self.as_of is None or self.state in (ReflectorState.FORBIDDEN, ReflectorState.ABSENT):
            return Blind(source=source, at=now, reason=f"{self.kind.name}: {self.reason}")
        if self.is_stale:
            cause = f": {self.reason}" if self.reason else ""
            age = in_words(now - self.as_of)
            return Blind(source=source, at=now, reason=f"{self.kind.name}: last seen {age} ago{cause}")
        if self._shown is None:
            self._shown = MappingProxyType(dict(self._objects))
        return Snapshot(kind=self.kind.name, at=self.as_of, objects=self._shown)

    async def run(self) -> None:
        """For ever; cancel it to stop."""
        while True:
            try:
                if not self._version or self.is_stale:
                    await self._list()
                lively = await self._watch()
            except SourceError as failure:
                await self._after(failure)
            else:
                if not lively:  # a server that hangs up at once is not to be hammered
                    await self._pause(self._wait)

    async def _list(self) -> None:
        self.state = ReflectorState.LISTING
        began = self._clock.now()
        found: dict[str, T] = {}
        version = ""
        async with aclosing(
            self._source.pages(self.kind.path, limit=self._timing.page, params=self.kind.params)
        ) as pages:
            async for body in pages:
                of_list, things = self._decoder.page(body)
                version = version or of_list
                found.update((thing.key, thing) for thing in things)
        # The last page was just read: others, and timers too, have a turn before all of it is event.
        await asyncio.sleep(0.001)
        self.lists += 1
        self.as_of = began
        self._replace(found)
        self._version = version
        self._checked = asyncio.get_running_loop().time()
        self.reason = ""
        self.settled.set()

    async def _watch(self) -> bool:
        """One watch to its end. True when it lived: it told something, or lasted."""
        loop = asyncio.get_running_loop()
        began, lively = loop.time(), False
        async with aclosing(
            self._source.watch(
                self.kind.path,
                self._version,
                params=self.kind.params,
                seconds=self._timing.watch,
                grace=self._timing.grace,
            )
        ) as lines:
            async for line in lines:
                if not line:  # it is open
                    self.watches += 1
                    self.state, self.reason = ReflectorState.WATCHING, ""
                    continue
                event = self._decoder.line(line)
                if event.type is WatchEventType.ERROR and event.status is not None:
                    attempt = f"GET {self.kind.path}?watch=true"
                    raise error_from(event.status, self._source.where, attempt)
                lively, self._wait = True, self._timing.first_wait
                self.as_of = self._clock.now()
                if event.object is not None:
                    self._apply(event.object.key, event.object, gone=event.type is WatchEventType.DELETED)
                self._version = event.version or self._version
        self.as_of = self._clock.now()  # the server was there to the end and has said all it had
        lively = lively or loop.time() - began > self._timing.watch / 2
        if lively:
            self._wait = self._timing.first_wait
        if loop.time() - self._checked > self._timing.rewind_check:
            await self._notice_rewind()
            self._checked = loop.time()
        return lively

    async def _notice_rewind(self) -> None:
        """A cluster restored from a backup counts from behind us and would tell us nothing for long."""
        asked = {**self.kind.params, "limit": "1"}
        theirs, _ = self._decoder.page(await self._source.get(self.kind.path, asked))
        if theirs.isdigit() and self._version.isdigit() and int(theirs) < int(self._version):
            self._version = ""

    async def _after(self, failure: SourceError) -> None:
        """Say what is wrong, decide whether the watch may go on where it was, and wait."""
        self.reason = str(failure)
        if failure.status in (403, 404):
            self.state = ReflectorState.FORBIDDEN if failure.status == 403 else ReflectorState.ABSENT
            if failure.status == 404:
                self.reason = f"the cluster does not serve {self.kind.path}"
            self._version = ""
            self.settled.set()
            await asyncio.sleep(self._timing.refused_wait * self._chance.uniform(0.9, 1.1))
            return
        self.state = ReflectorState.WAITING
        if failure.status in (400, 410) or "cannot be read" in self.reason:
            self._version = ""  # the only cure is to list again
        await self._pause(self._wait)

    async def _pause(self, seconds: float) -> None:
        self._wait = min(seconds * 2, self._timing.longest_wait)
        await asyncio.sleep(seconds * self._chance.uniform(0.5, 1.0))

    def _replace(self, found: dict[str, T]) -> None:
        for key in self._objects.keys() - found.keys():
            self._apply(key, self._objects[key], gone=True)
        for key, thing in found.items():
            before = self._objects.get(key)
            if before is not None and before.metadata.uid != thing.metadata.uid:
                self._apply(key, before, gone=True)
            self._apply(key, thing, gone=False)

    def _apply(self, key: str, thing: T, *, gone: bool) -> None:
        before = self._objects.get(key)
        if gone:
            if self._objects.pop(key, None) is None:
                return
            before, after = thing, None
        else:
            version = thing.metadata.resource_version
            if before is not None and version and before.metadata.resource_version == version:
                return  # told twice, after a reconnect
            self._objects[key] = after = thing
        self._shown = None
        self.changes += 1
        at = self.as_of or self._clock.now()
        self._on_change(ObjectChange(kind=self.kind.name, key=key, before=before, after=after, at=at))
