"""Jobs that run within a test, on a store that they listen to."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol

from alerts.store import Changed
from bot.store.sql_store import SqlStore
from demo.side_tasks import beside
from tests.support.memory_store import MemoryStore


class Job(Protocol):
    """A part of the bot that works until it is cancelled."""

    def wake(self, changed: Changed) -> None: ...

    async def run(self) -> None: ...


@asynccontextmanager
async def running(store: MemoryStore | SqlStore, *jobs: Job) -> AsyncIterator[None]:
    """Run the jobs while the block lasts."""
    async with AsyncExitStack() as stack:
        for job in jobs:
            stack.callback(store.listen(job.wake))
            await stack.enter_async_context(beside(job.run()))
        yield
