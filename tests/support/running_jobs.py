"""A reconciler that runs within a test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.delivery.reconciler import Reconciler
from bot.store.sql_store import SqlStore
from tests.support.memory_store import MemoryStore


@asynccontextmanager
async def running(reconciler: Reconciler, store: MemoryStore | SqlStore) -> AsyncIterator[None]:
    """Deliver what the store has while the block lasts."""
    stop = store.listen(reconciler.mark_changed)
    try:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(reconciler.run())
            yield
            task.cancel()
    finally:
        stop()
