"""Fault injection for the look-alike of Elasticsearch, for tests and scenarios."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

Json = dict[str, Any]


@dataclass(slots=True)
class Faults:
    """The faults in force. Each lasts for the next `times` searches, or until `heal`.

    Searches are `_search`, `_msearch`, `_count`, `_field_caps` and points in time. `fail`, `partial` and `time_out`
    do not affect indexing; the other faults do.
    """

    is_down: bool = False
    latency: timedelta = timedelta()
    _failing: tuple[int, int] = (0, 0)  # status, times left
    _partial: tuple[int, int] = (0, 0)  # failed shards, times left
    _whole_before: int = 0  # complete searches before the partial ones
    _timed_out: int = 0
    _running: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._running.set()

    def fail(self, status: int, times: int = 1) -> None:
        """Answer searches with this status."""
        self._failing = status, times

    def partial(self, shards_failed: int = 1, times: int = 1, *, after: int = 0) -> None:
        """Answer searches without some shards and report them as failed; the next `after` searches stay complete."""
        self._partial = shards_failed, times
        self._whole_before = after

    def time_out(self, times: int = 1) -> None:
        """Answer searches with what was found before the timeout, and set `timed_out`."""
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
        """Clear all faults."""
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
        """Return the status that this search fails with; 0 for none."""
        status, left = self._failing
        self._failing = (status, left - 1) if left > 1 else (0, 0)
        return status

    def apply(self, answer: Json) -> Json:
        """Return the answer to a search with the faults applied."""
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
