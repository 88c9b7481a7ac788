"""This file has pacers: how fast a chat lets us speak, in a channel and for each method."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """One call `every` so often; up to `burst` at once after a rest."""

    every: timedelta
    burst: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Paces:
    """The defaults are Slack's: a message a second and channel, 50 edits and reads a minute and workspace.

    The bursts leave room: burst and a minute's pace together stay below what is allowed in any minute.
    Source: https://docs.slack.dev/apis/web-api/rate-limits
    """

    channel: Pace = Pace(every=timedelta(seconds=1.05))
    methods: Mapping[str, Pace] = field(
        default_factory=lambda: {
            "post": Pace(every=timedelta(seconds=0.25), burst=20),
            "edit": Pace(every=timedelta(seconds=1.4), burst=7),
            "find": Pace(every=timedelta(seconds=1.4), burst=7),
            "delete": Pace(every=timedelta(seconds=1.4), burst=7),
        }
    )


class Pacer:
    """A token bucket on the loop's time."""

    def __init__(self, pace: Pace) -> None:
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
