"""This file holds Slack's rates: how many calls pass, and how long the others must wait."""

import math
from collections import deque
from dataclasses import dataclass, field

from demo.lookalikes.slack.limits import Limits


@dataclass(slots=True)
class Window:
    """At most `most` calls in any `seconds`."""

    most: int
    seconds: float
    passed: deque[float] = field(default_factory=deque)

    def wait(self, now: float) -> float:
        """Seconds until the next call may pass; 0 when it may pass now."""
        while self.passed and self.passed[0] <= now - self.seconds:
            self.passed.popleft()
        return 0.0 if len(self.passed) < self.most else self.passed[0] + self.seconds - now


@dataclass(slots=True, kw_only=True)
class RateLimiter:
    """The windows of one app in one workspace: one for each method, one for each channel's messages."""

    limits: Limits
    #: Messages that one channel takes at once before the pace of 1 a second holds.
    burst: int = 1
    #: False lets everything pass.
    strict: bool = True
    methods: dict[str, Window] = field(default_factory=dict)
    channels: dict[str, Window] = field(default_factory=dict)

    def admit(self, method: str, channel: str | None, now: float) -> int:
        """0 when the call may pass (it is then counted), else the whole seconds for `Retry-After`.

        Args:
            channel: where a message is posted; None for every call that posts none.
            now: seconds on any clock that does not go back.
        """
        if not self.strict:
            return 0
        windows = [
            self.methods.setdefault(method, Window(self.limits.calls_per_minute(method), 60.0)),
        ]
        if channel is not None:
            rate = self.limits["messages_per_second_per_channel"]
            windows.append(self.channels.setdefault(channel, Window(rate * self.burst, float(self.burst))))
        wait = max(window.wait(now) for window in windows)
        if wait > 0:
            return max(1, math.ceil(wait))
        for window in windows:
            window.passed.append(now)
        return 0
