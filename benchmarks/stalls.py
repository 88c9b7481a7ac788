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
    """`longest` is by how many seconds the task was late at most."""

    longest: float = 0.0

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + TICK
            await asyncio.sleep(TICK)
            self.longest = max(self.longest, loop.time() - due)


@asynccontextmanager
async def ticking() -> AsyncIterator[Ticker]:
    """A ticker that runs for the length of the block."""
    ticker = Ticker()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(ticker.run())
        await asyncio.sleep(3 * TICK)
        ticker.longest = 0.0
        try:
            yield ticker
            await asyncio.sleep(3 * TICK)  # a stall that has just begun to be noticed
        finally:
            task.cancel()


async def longest_stall(once: Callable[[], Awaitable[object]], *, rounds: int) -> timedelta:
    """The median, over the rounds, of each round's longest stall: one preemption by others decides nothing."""
    found: list[float] = []
    for _ in range(rounds):
        async with ticking() as ticker:
            await once()
        found.append(ticker.longest)
    return timedelta(seconds=statistics.median(found))


def longest_decode(
    decode: Callable[[bytes], object], bodies: Sequence[bytes], *, rounds: int = 3
) -> timedelta:
    """The time that decoding the slowest of these bodies takes: the median of a few turns at each."""

    slowest = 0.0
    for body in bodies:
        seconds = []
        for _ in range(rounds):
            began = time.perf_counter()
            decode(body)
            seconds.append(time.perf_counter() - began)
        slowest = max(slowest, statistics.median(seconds))
    return timedelta(seconds=slowest)
