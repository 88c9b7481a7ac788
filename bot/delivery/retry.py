"""Timeouts and pauses of retries of calls to a chat; the channel worker applies them."""

from dataclasses import dataclass
from datetime import timedelta
from random import Random

SOON = 2  # repetitions that reach people, before they become seldom
TIMER_TOLERANCE = 0.001  # seconds that a timer may fire early


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How long to wait for a chat.

    `answer`: timeout of one call; the chat's own client should give up earlier. `outcome_timeout`: after this, a
    message that cannot be found was never posted; longer than the client's timeout plus the chat's delay.
    `retry`, `max_retry`: the pauses after a failure. `refused`: the pause before a refused message is
    retried; `refused_critical`: that of a critical card whose channel refuses everything. `clocks_differ`: how
    far from the intent our message may be dated by the chat's clock.
    """

    answer: timedelta = timedelta(seconds=12)
    outcome_timeout: timedelta = timedelta(seconds=20)
    retry: timedelta = timedelta(seconds=1)
    max_retry: timedelta = timedelta(minutes=1)
    refused: timedelta = timedelta(minutes=10)
    refused_critical: timedelta = timedelta(seconds=30)
    clocks_differ: timedelta = timedelta(minutes=10)

    def refused_pause(self, is_critical: bool) -> float:
        """Return the seconds to wait after the channel or the chat refused everything."""
        return (self.refused_critical if is_critical else self.refused).total_seconds()

    def repetition_pause(self, failed: int) -> float:
        """Return the seconds until a message is repeated that people may have got each of so many times."""
        return (self.max_retry if failed <= SOON else self.refused).total_seconds()

    def pause(self, failed: int, random: Random) -> float:
        """Return the seconds to wait after so many failures in a row: doubled each time, with jitter."""
        doubled: timedelta = self.retry * 2.0 ** min(failed - 1, 16)
        return min(self.max_retry, doubled).total_seconds() * random.uniform(0.5, 1)


@dataclass(slots=True)
class Attempts:
    """The attempts to send one message, in this process only. Times are in loop time."""

    not_before: float = 0.0
    # When it was last sent, even by an earlier process; None: never, or not known yet.
    asked_at: float | None = None
    failed: int = 0
    is_surely_unsent: bool = False  # the intent is stored, and the chat confirmed that nothing was posted
    refused: bool = False
