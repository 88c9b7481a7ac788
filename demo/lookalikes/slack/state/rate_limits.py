"""Slack's rate limits: how many calls pass, and how long the others must wait."""

import math
from collections import deque
from dataclasses import dataclass, field

from demo.lookalikes.slack.limits import Limits


@dataclass(slots=True)
class Window:
    """A sliding window of at most `most` calls in `seconds`."""

    most: int
    seconds: float
    passed: deque[float] = field(default_factory=deque)

    def wait(self, now: float) -> float:
        """Return the seconds until the next call may pass; 0 for now."""
        while self.passed and self.passed[0] <= now - self.seconds:
            self.passed.popleft()
        return 0.0 if len(self.passed) < self.most else self.passed[0] + self.seconds - now


@dataclass(slots=True, kw_only=True)
class RateLimiter:
    """The windows of one app in one workspace: one for each method, one for each channel's messages."""

    limits: Limits
    #: Messages that a channel accepts at once before the rate of 1 per second applies.
    burst: int = 1
    #: False disables all limits.
    strict: bool = True
    methods: dict[str, Window] = field(default_factory=dict)
    channels: dict[str, Window] = field(default_factory=dict)

    def admit(self, method: str, channel: str | None, now: float) -> int:
        """Count the call and return 0 if it may pass, else return the whole seconds for `Retry-After`.

        `channel` is where a message is posted, None for other calls; `now` is in monotonic seconds.
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
