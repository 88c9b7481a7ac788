"""Queries that several rules have in common: each is sent once for a moment."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from collectors.facts.results import QueryResult

Q = TypeVar("Q", bound=Hashable)
Send = Callable[[Q, datetime], Awaitable[QueryResult]]


@dataclass(slots=True)
class _Shared:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    result: QueryResult | None = None


class SharedQueries(Generic[Q]):
    """The results of the latest moment, by query. `send` sends one; whoever asks first waits for it.

    If that one is cancelled, the next who asks sends it again.
    """

    def __init__(self, send: Send[Q]) -> None:
        self._send = send
        self._at: datetime | None = None
        self._results: dict[Q, _Shared] = {}

    async def query(self, query: Q, at: datetime) -> QueryResult:
        """Return the result of the query at that moment, for all who ask before another moment is asked for."""
        if at != self._at:
            self._at, self._results = at, {}
        shared = self._results.setdefault(query, _Shared())
        async with shared.lock:
            if shared.result is None:
                shared.result = await self._send(query, at)
            return shared.result
