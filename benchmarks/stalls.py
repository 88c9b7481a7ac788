"""Stalls of the event loop: a task is due every millisecond, and its delay is measured."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from demo.side_tasks import beside

TICK = 0.001  # seconds


@dataclass(slots=True)
class Ticker:
    """The most seconds by which the task was late, and the most that the loop's thread worked during one wait."""

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
    """Run a ticker while the block runs."""
    ticker = Ticker()
    async with beside(ticker.run()):
        await asyncio.sleep(3 * TICK)
        ticker.late = ticker.worked = 0.0
        yield ticker
        await asyncio.sleep(3 * TICK)  # so that a stall at the end is measured too


async def longest_stall(once: Callable[[], Awaitable[object]], *, rounds: int) -> timedelta:
    """Return the longest stall while `once` runs, over several repetitions.

    It is the median of the time that the loop's thread worked without a pause, so that other programs on the machine
    do not count. If even the shortest delay is longer than that, the loop was blocked, and this delay counts.
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
    """Return the CPU time to decode the slowest of these bodies, in its fastest run: a slow run would flatter us."""
    slowest = 0.0
    for body in bodies:
        seconds = []
        for _ in range(rounds):
            started = time.thread_time()
            decode(body)
            seconds.append(time.thread_time() - started)
        slowest = max(slowest, min(seconds))
    return timedelta(seconds=slowest)
