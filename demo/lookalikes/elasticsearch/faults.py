"""This file makes the look-alike misbehave, as real servers do, for tests and scenarios."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

Json = dict[str, Any]


@dataclass(slots=True)
class Faults:
    """What is wrong at present. Each holds for the next `times` searches, or until it is taken back.

    Searches are `_search`, `_msearch`, `_count`, `_field_caps` and points in time; shipping is not hurt by `fail`,
    `partial` and `time_out`, but by the others.
    """

    is_down: bool = False
    latency: timedelta = timedelta()
    _failing: tuple[int, int] = (0, 0)  # status, how often still
    _partial: tuple[int, int] = (0, 0)  # shards, how often still
    _whole_before: int = 0  # searches that are spared before the partial ones
    _timed_out: int = 0
    _running: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._running.set()

    def fail(self, status: int, times: int = 1) -> None:
        """Answer searches with this status."""
        self._failing = status, times

    def partial(self, shards_failed: int = 1, times: int = 1, *, after: int = 0) -> None:
        """Answer searches without some shards, and say so in the answer; the next `after` searches are spared."""
        self._partial = shards_failed, times
        self._whole_before = after

    def time_out(self, times: int = 1) -> None:
        """Answer searches with what was found until the time was up, and say so in the answer."""
        self._timed_out = times

    def slow(self, latency: timedelta) -> None:
        """Wait before every answer."""
        self.latency = latency

    def pause(self) -> None:
        """Answer nothing until `resume`."""
        self._running.clear()

    def resume(self) -> None:
        self._running.set()

    def heal(self) -> None:
        """Take all of it back."""
        self._failing = self._partial = 0, 0
        self._timed_out = self._whole_before = 0
        self.latency = timedelta()
        self.is_down = False
        self._running.set()

    async def wait(self) -> None:
        if self.latency:
            await asyncio.sleep(self.latency.total_seconds())
        await self._running.wait()

    def status(self) -> int:
        """The status that this search is to fail with, 0 for none."""
        status, left = self._failing
        self._failing = (status, left - 1) if left > 1 else (0, 0)
        return status

    def hurt(self, answer: Json) -> Json:
        """A search's answer as a hurt server would give it."""
        failed, left = self._partial
        if left and self._whole_before:
            self._whole_before -= 1
        elif left:
            self._partial = (failed, left - 1) if left > 1 else (0, 0)
            shards = dict(answer["_shards"])
            shards["total"] = max(shards["total"], failed + 1)
            reason = {"type": "no_shard_available_action_exception", "reason": "a shard is not available"}
            shards |= {"failed": failed, "successful": shards["total"] - failed}
            shards["failures"] = [{"shard": 0, "index": "look-alike", "reason": reason}]
            answer = {**answer, "_shards": shards}
        if self._timed_out:
            self._timed_out -= 1
            answer = {**answer, "timed_out": True}
        return answer
