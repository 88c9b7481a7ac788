"""This file measures how long the event loop stands still: a task that wants to run each millisecond, and cannot."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

TICK = 0.001  # seconds


@dataclass(slots=True)
class Ticker:
    """By how many seconds the task was late at most, and how much of such a wait the loop's thread worked at most."""

    late: float = 0.0
    worked: float = 0.0

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due, before = loop.time() + TICK, time.thread_time()
            await asyncio.sleep(TICK)
            self.late = max(self.late, loop.time() - due)
            self.worked = max(self.worked, time.thread_time() - before)


@asynccontextmanager
async def ticking() -> AsyncIterator[Ticker]:
    """A ticker that runs for the length of the block."""
    ticker = Ticker()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(ticker.run())
        await asyncio.sleep(3 * TICK)
        ticker.late = ticker.worked = 0.0
        try:
            yield ticker
            await asyncio.sleep(3 * TICK)  # a stall that has just begun to be noticed
        finally:
            task.cancel()


async def longest_stall(once: Callable[[], Awaitable[object]], *, rounds: int) -> timedelta:
    """The longest stall while this is done, of several repetitions.

    What the loop's thread works without a pause is the median's; other programs that take the processor away
    do not count. Where a repetition's wait is longer than that even at the least, the loop was blocked: that counts.
    """
    worked: list[float] = []
    late: list[float] = []
    for _ in range(rounds):
        async with ticking() as ticker:
            await once()
        worked.append(ticker.worked)
        late.append(ticker.late)
    return timedelta(seconds=max(statistics.median(worked), min(late)))


def longest_decode(
    decode: Callable[[bytes], object], bodies: Sequence[bytes], *, rounds: int = 5
) -> timedelta:
    """The CPU time that decoding the slowest of these bodies takes, at its quickest: a long one would flatter us."""
    slowest = 0.0
    for body in bodies:
        seconds = []
        for _ in range(rounds):
            began = time.thread_time()
            decode(body)
            seconds.append(time.thread_time() - began)
        slowest = max(slowest, min(seconds))
    return timedelta(seconds=slowest)
