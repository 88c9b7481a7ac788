"""Rate limits: how many calls a chat allows, in a channel and of each method."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from bot.delivery.retry import RetryPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """One call `every` so often; up to `burst` at once after a rest."""

    every: timedelta
    burst: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimits:
    """What a chat allows: posts to one channel, and calls of each method (post, edit, find, delete) altogether."""

    channel: RateLimit
    methods: Mapping[str, RateLimit]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryPolicy:
    """How fast we send to a chat, and how we retry."""

    rate_limits: RateLimits
    retry: RetryPolicy = field(default_factory=RetryPolicy)


class RateLimiter:
    """A token bucket on the loop's time."""

    def __init__(self, pace: RateLimit) -> None:
        self._every = pace.every.total_seconds()
        self._slack = self._every * (pace.burst - 1)
        self._next = 0.0  # when the bucket would be empty of debts
        self._held_until = 0.0

    def ready_at(self) -> float:
        """The moment, in loop time, from which on a call may be made."""
        return max(self._next - self._slack, self._held_until)

    def take(self) -> None:
        """Count a call that is made now."""
        self._next = max(self._next, asyncio.get_running_loop().time()) + self._every

    def hold(self, pause: timedelta) -> None:
        """Let nobody through for that long: the chat asked for it."""
        until = asyncio.get_running_loop().time() + pause.total_seconds()
        self._held_until = max(self._held_until, until)
