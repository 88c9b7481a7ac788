"""Queries that several rules have in common: each is sent once for a moment."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from collectors.facts.labels import Labels
from collectors.facts.results import QueryResult

Q = TypeVar("Q", bound=Hashable)
MAX_PAIRS = 100_000  # that are remembered, to be shared
Send = Callable[[Q, datetime], Awaitable[QueryResult]]


@dataclass(slots=True)
class _Shared(Generic[Q]):
    """The result of one moment. `before` is that of the moment before it, until this one is there."""

    at: datetime
    before: "_Shared[Q] | None"
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    result: QueryResult | None = None


class SharedQueries(Generic[Q]):
    """The results of the latest moment, by query. `send` sends one; whoever asks first waits for it.

    If that one is cancelled, the next who asks sends it again. To free a large result takes a while, so each is freed
    when another of its kind arrives, and not all of them when a moment begins.
    """

    def __init__(self, send: Send[Q]) -> None:
        self._send = send
        self._moments: tuple[datetime | None, ...] = (None, None)  # the latest two
        self._shared: dict[Q, _Shared[Q]] = {}

    async def query(self, query: Q, at: datetime) -> QueryResult:
        """Return the result of the query at that moment, for all who ask before another moment is asked for."""
        if at != self._moments[0]:
            self._moments = (at, self._moments[0])
        shared = self._shared.get(query)
        if shared is None or shared.at != at:
            shared = self._shared[query] = _Shared(at=at, before=shared)
        async with shared.lock:
            if shared.result is None:
                shared.result = await self._send(query, at)
                shared.before = None
                self._forget_one()
            return shared.result

    def _forget_one(self) -> None:
        """Forget a query that is no longer asked."""
        old = (query for query, one in self._shared.items() if one.at not in self._moments)
        if (query := next(old, None)) is not None:
            del self._shared[query]


class LabelPool:
    """The labels of the latest moment, and of the one before it."""

    def __init__(self) -> None:
        self._at: datetime | None = None
        self._now: dict[Labels, Labels] = {}
        self._before: dict[Labels, Labels] = {}
        self._pairs: dict[tuple[str, str], tuple[str, str]] = {}

    def shared(self, labels: Labels, at: datetime) -> Labels:
        """Return the labels that are equal to these: those that are there already, or these."""
        if at != self._at:
            self._at, self._before, self._now = at, self._now, {}
        found = self._now.get(labels)
        if found is None:
            found = self._before.get(labels)
            if found is None:
                found = self._with_shared_pairs(labels)
            self._now[labels] = found
        return found

    def _with_shared_pairs(self, labels: Labels) -> Labels:
        """Make these labels hold the pairs that others have: nine of ten are of a node or GPU with many series."""
        if len(self._pairs) > MAX_PAIRS:
            self._pairs.clear()
        labels.share(self._pairs)
        return labels
