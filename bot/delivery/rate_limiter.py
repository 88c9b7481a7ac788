"""Token buckets that keep calls within a notifier's rate limits, per channel and per method."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """One call per `every`, and up to `burst` at once after a pause."""

    every: timedelta
    burst: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimits:
    """The limits of a chat: posts to one channel, and all calls of each method (post, edit, find, delete)."""

    channel: RateLimit
    methods: Mapping[str, RateLimit]


UNLIMITED = RateLimits(
    channel=RateLimit(every=timedelta()),
    methods=dict.fromkeys(("post", "edit", "find", "delete"), RateLimit(every=timedelta())),
)


class RateLimiter:
    """A token bucket in loop time."""

    def __init__(self, limit: RateLimit) -> None:
        self._every = limit.every.total_seconds()
        self._burst = self._every * (limit.burst - 1)
        self._next = 0.0  # when the next call would be free without any burst
        self._held_until = 0.0

    def ready_at(self, *, spares_burst: bool = False) -> float:
        """Return the loop time from which a call may be made. One that can wait leaves the burst to the others."""
        free = self._next if spares_burst else self._next - self._burst
        return max(free, self._held_until)

    def take(self) -> None:
        """Count a call made now."""
        self._next = max(self._next, asyncio.get_running_loop().time()) + self._every

    def hold(self, pause: timedelta) -> None:
        """Block all calls for that long, as the chat requested."""
        until = asyncio.get_running_loop().time() + pause.total_seconds()
        self._held_until = max(self._held_until, until)
