"""Queries that several rules have in common: each is sent once for a moment."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

from collectors.facts.results import QueryResult

Send = Callable[[str, datetime], Awaitable[QueryResult]]


@dataclass(slots=True)
class _Shared:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    result: QueryResult | None = None


class SharedQueries:
    """The results of the latest moment, by expression. `send` sends a query; whoever asks first waits for it.

    If that one is cancelled, the next who asks sends it again.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._at: datetime | None = None
        self._results: dict[str, _Shared] = {}

    async def query(self, expr: str, at: datetime) -> QueryResult:
        """Return the result of the expression at that moment, for all who ask before another moment is asked for."""
        if at != self._at:
            self._at, self._results = at, {}
        shared = self._results.setdefault(expr, _Shared())
        async with shared.lock:
            if shared.result is None:
                shared.result = await self._send(expr, at)
            return shared.result
