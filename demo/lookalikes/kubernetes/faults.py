"""Fault injection for the look-alike of Kubernetes: failures, silence, latency and dropped watches."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from demo.lookalikes.kubernetes.errors import RefusedError


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRequest:
    """One request as it arrived. `body` is decoded JSON, or None without one."""

    method: str
    path: str
    query: dict[str, str]
    user: str
    dry_run: bool
    body: Any


Matcher = Callable[[RecordedRequest], bool]


@dataclass(slots=True)
class _Failure:
    matcher: Matcher
    status: int
    left: int
    retry_after: int | None


_REASONS = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


class Faults:
    """The faults in force."""

    def __init__(self) -> None:
        self.latency = timedelta(0)
        self.generation = 0
        self.stalled = 0  # watches of an older generation send nothing more
        self.bookmarks = 0
        self.ends_watches = False  # at once, with nothing sent
        self._failures: deque[_Failure] = deque()
        self._running = asyncio.Event()
        self._running.set()
        self._droppable: set[asyncio.Event] = set()
        self.abrupt = False

    def fail(self, matcher: Matcher, status: int, times: int, retry_after: int | None) -> None:
        self._failures.append(_Failure(matcher, status, times, retry_after))

    def recover(self) -> None:
        self._failures.clear()

    def check(self, request: RecordedRequest) -> None:
        """Refuse the request when a planned failure matches it."""
        for failure in self._failures:
            if failure.left > 0 and failure.matcher(request):
                failure.left -= 1
                reason = _REASONS.get(failure.status, "InternalError")
                message = f"planned failure {failure.status} of {request.method} {request.path}"
                raise RefusedError(failure.status, reason, message, retry_after=failure.retry_after)

    def pause(self) -> None:
        self._running.clear()

    def resume(self) -> None:
        self._running.set()

    async def unpaused(self) -> None:
        """Wait while paused."""
        await self._running.wait()

    async def delay(self) -> None:
        """Wait while paused, then for the latency."""
        await self.unpaused()
        if self.latency:
            await asyncio.sleep(self.latency.total_seconds())

    def drop(self, *, abruptly: bool) -> None:
        """End all watches, cleanly or by breaking the connection."""
        self.generation += 1
        self.abrupt = abruptly
        self._wake()

    def stall(self) -> None:
        """Let the running watches send nothing more, and not end either."""
        self.generation += 1
        self.stalled = self.generation
        self._wake()

    def bookmark(self) -> None:
        """Let the running watches send a bookmark."""
        self.bookmarks += 1
        self._wake()

    def _wake(self) -> None:
        for waker in self._droppable:
            waker.set()

    @contextmanager
    def droppable(self, waker: asyncio.Event) -> Iterator[None]:
        self._droppable.add(waker)
        try:
            yield
        finally:
            self._droppable.discard(waker)
