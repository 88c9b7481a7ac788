"""When a failed call to a chat is tried again."""

from dataclasses import dataclass
from datetime import timedelta
from random import Random


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How long we wait for a chat.

    `answer`: for one call; the chat's own client should give up before. `doubt`: after an intent, until
    "not found" in the channel means "was never told"; longer than the client's own timeout and the chat's
    slowness together. `retry`, `retry_at_most`: the pauses after a failure. `refused`: until a refused message
    is tried again. `look_back`: how much earlier than the intent our message may stand, by the chat's clock.
    """

    answer: timedelta = timedelta(seconds=12)
    doubt: timedelta = timedelta(seconds=20)
    retry: timedelta = timedelta(seconds=1)
    retry_at_most: timedelta = timedelta(minutes=1)
    refused: timedelta = timedelta(minutes=10)
    look_back: timedelta = timedelta(minutes=10)

    def pause(self, failed: int, random: Random) -> float:
        """The seconds to wait after so many failures in a row: doubled each time, with jitter."""
        doubled: timedelta = self.retry * 2.0 ** min(failed - 1, 16)
        return min(self.retry_at_most, doubled).total_seconds() * random.uniform(0.5, 1)


@dataclass(slots=True)
class Attempts:
    """How it went so far with one message, in this process only. Moments are in loop time."""

    not_before: float = 0.0
    failed: int = 0
    is_surely_unsent: bool = False  # the intent is on disk, and the chat said that it took nothing
    refused: bool = False
