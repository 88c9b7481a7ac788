"""Jobs that run within a test, on a store that they listen to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from alerts.store import Changed
from bot.store.sql_store import SqlStore
from tests.support.memory_store import MemoryStore


class Job(Protocol):
    """A part of the bot that works until it is cancelled."""

    def wake(self, changed: Changed) -> None: ...

    async def run(self) -> None: ...


@asynccontextmanager
async def running(store: MemoryStore | SqlStore, *jobs: Job) -> AsyncIterator[None]:
    """Run the jobs while the block lasts."""
    stops = [store.listen(job.wake) for job in jobs]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job.run()) for job in jobs]
            yield
            for task in tasks:
                task.cancel()
    finally:
        for stop in stops:
            stop()
