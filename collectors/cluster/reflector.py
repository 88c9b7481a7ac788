"""The list and watch of one kind of object; no change is lost.

The end of a watch is normal. After a lost event the kind is listed again. The view is Blind rather than stale. A stale
kind is listed again, because the watch of a kind that never changes sends nothing. A watch that ends at once does not
say that nothing changed, so a kind whose watches do is listed again before it is stale.
"""

import asyncio
import random
from collections.abc import Callable, Mapping
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from collectors.cluster.base import KubernetesObject
from collectors.cluster.decoder import KindDecoder, UnreadableObjectsError, WatchEventType
from collectors.cluster.discovery import Discovery
from collectors.cluster.kinds import ResourceKind
from collectors.cluster.object_store import ObjectChange, Snapshot
from collectors.cluster.reflected_objects import ReflectedObjects
from collectors.cluster.reflector_state import ReflectorState, ReflectorTiming
from collectors.facts.clock import Clock
from collectors.facts.results import Blind, SourceError
from collectors.facts.sentences import listed, said_by, sentence
from collectors.internal_errors import InternalErrors
from collectors.sources.kubernetes.api_status import error_from
from collectors.sources.kubernetes.source import KubernetesSource

T = TypeVar("T", bound=KubernetesObject)


class Reflector(Generic[T]):
    """The cache of one kind: `run()` keeps it current, `view()` reads it."""

    def __init__(
        self,
        kind: ResourceKind[T],
        source: KubernetesSource,
        *,
        clock: Clock,
        on_change: Callable[[ObjectChange], None],
        stale_after: timedelta = timedelta(seconds=90),
        timing: ReflectorTiming | None = None,
        errors: InternalErrors | None = None,
        chance: random.Random | None = None,
        discovery: Discovery | None = None,
    ) -> None:
        self.kind = kind
        self.state = ReflectorState.STARTING
        self.reason: str = sentence("it has not been listed yet")
        self.as_of: datetime | None = None  # by the wall clock
        self._seen_at = timedelta()  # the same, by the monotonic clock
        self.lists = self.watches = 0
        self.settled = asyncio.Event()  # listed or refused once
        self._source = source
        self._discovery = discovery or Discovery(source)
        self._clock = clock
        self._stale_after = stale_after
        self._timing = timing or ReflectorTiming()
        self._errors = errors or InternalErrors()
        self._chance = chance or random.Random()
        self._decoder = KindDecoder(kind)
        self._objects = ReflectedObjects(kind, on_change, now=lambda: self.as_of or clock.now())
        self._version = ""  # of the last event; empty: list first
        self._wait = self._timing.first_wait
        self._checked = 0.0
        self._is_hung_up = False  # the last watch ended at once, without an event

    @property
    def count(self) -> int:
        """The number of cached objects."""
        return self._objects.count

    @property
    def changes(self) -> int:
        """The number of changes so far."""
        return self._objects.changes

    @property
    def unreadable(self) -> Mapping[str, str]:
        """The keys of objects that cannot be decoded, with the reason."""
        return self._objects.unreadable

    @property
    def is_stale(self) -> bool:
        """Whether the last list or event is too old to be used."""
        return self.age is not None and self.age > self._stale_after

    @property
    def age(self) -> timedelta | None:
        """The time since `as_of`, by the monotonic clock."""
        return None if self.as_of is None else self._clock.elapsed() - self._seen_at

    @property
    def _must_list(self) -> bool:
        lasts = self._stale_after / 2 if self._is_hung_up else self._stale_after
        return not self._version or self.age is None or self.age > lasts

    def _saw(self, at: datetime, elapsed: timedelta) -> None:
        self.as_of, self._seen_at = at, elapsed

    @property
    def blind_reason(self) -> str:
        """Why the objects cannot be seen now; empty when they can."""
        if self.age is None:
            return self.reason
        if self.is_stale:
            seen = sentence("last seen {age} ago", age=self.age)
            return listed(filter(None, (seen, self.reason)), ":")
        return ""

    def view(self, *, source: str) -> Snapshot[T] | Blind:
        reason = self.blind_reason
        if self.as_of is None or reason:
            return Blind(source=source, at=self._clock.now(), reason=listed((self.kind.name, reason), ":"))
        return self._objects.snapshot(self.as_of)

    async def run(self) -> None:
        """Run until cancelled. A bug costs this kind a new list, and no other kind anything."""
        while True:
            try:
                await self._list_and_watch()
            except Exception as error:
                self.state, self._version = ReflectorState.WAITING, ""
                self.reason = self._errors.contain(error, "kubernetes", kind=self.kind.name)
                await self._pause(self._wait)

    async def _list_and_watch(self) -> None:
        try:
            if self._must_list:
                await self._list()
            is_alive = await self._watch()
        except SourceError as failure:
            await self._recover(failure)
        else:
            if not is_alive:  # a server that hangs up immediately must not be flooded
                await self._pause(self._wait)

    async def _list(self) -> None:
        """List all objects. Each page is applied at once, so that a long list does not block the loop."""
        self.state = ReflectorState.LISTING
        started = self._clock.now(), self._clock.elapsed()
        self._version = version = ""  # a list that fails has applied a part of it
        shown: set[str] = set()
        unreadable: dict[str, str] = {}
        async with aclosing(
            self._source.pages(self.kind.path, limit=self._timing.page, params=self.kind.params)
        ) as pages:
            async for body in pages:
                page = self._decoder.page(body)
                version = version or page.version
                unreadable |= page.unreadable
                shown |= self._objects.add(page.objects)
                await asyncio.sleep(0)
        self._objects.keep(shown, unreadable)
        self.lists += 1
        self._saw(*started)
        self._version = version
        self._checked = asyncio.get_running_loop().time()
        self.reason = ""
        self.settled.set()

    async def _watch(self) -> bool:
        """Run one watch to its end. Return True when it was alive: it sent an event, or lasted long enough."""
        started, is_alive = self._clock.elapsed(), False
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
                is_alive, self._wait = True, self._timing.first_wait
                self._saw(self._clock.now(), self._clock.elapsed())
                self._objects.apply(event)
                self._version = event.version or self._version
        ended = self._clock.elapsed()
        is_alive = is_alive or (ended - started).total_seconds() > self._timing.watch / 2
        if is_alive:  # the server answered to the end and has sent every event
            self._saw(self._clock.now(), ended)
            self._wait = self._timing.first_wait
        self._is_hung_up = not is_alive
        loop = asyncio.get_running_loop()
        if loop.time() - self._checked > self._timing.rewind_check:
            await self._detect_rewind()
            self._checked = loop.time()
        return is_alive

    async def _detect_rewind(self) -> None:
        """List again if the server's version went back: after a restore from a backup, events are late."""
        params = {**self.kind.params, "limit": "1"}
        current = self._decoder.page(await self._source.get(self.kind.path, params)).version
        if current.isdigit() and self._version.isdigit() and int(current) < int(self._version):
            self._version = ""

    async def _recover(self, failure: SourceError) -> None:
        """Record the reason, decide whether the watch can continue from its version, and wait."""
        self.reason = said_by(failure)
        if failure.status in (403, 404):
            self._version = ""
            is_absent = await self._recognize_absence()
            if failure.status == 403 and not is_absent:
                self.state, self.as_of = ReflectorState.FORBIDDEN, None
            self.settled.set()
            await asyncio.sleep(self._timing.refused_wait * self._chance.uniform(0.9, 1.1))
            return
        self.state = ReflectorState.WAITING
        if failure.status in (400, 410) or isinstance(failure, UnreadableObjectsError):
            self._version = ""  # only a new list helps
        await self._pause(self._wait)

    async def _pause(self, seconds: float) -> None:
        self._wait = min(seconds * 2, self._timing.longest_wait)
        await asyncio.sleep(seconds * self._chance.uniform(0.5, 1.0))

    async def _recognize_absence(self) -> bool:
        """Record that there is no object, if the API server itself says that it does not serve the kind.

        It refuses with 403 before it looks whether it serves the kind, so a missing right does not say that it does.
        """
        self.state = ReflectorState.WAITING
        try:
            if await self._discovery.is_served(self.kind.path):
                return False
        except SourceError as failure:
            self.reason = listed((self.reason, said_by(failure)), ";")
            return False
        self._objects.keep(frozenset(), {})
        self.state = ReflectorState.ABSENT
        self._saw(self._clock.now(), self._clock.elapsed())
        self.reason = sentence("the cluster does not serve {path}", path=self.kind.path)
        return True
