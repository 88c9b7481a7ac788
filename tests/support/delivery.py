"""A reconciler that runs within a test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.delivery.reconciler import Reconciler
from bot.store.sql_store import SqlStore
from demo.side_tasks import beside
from tests.support.memory_store import MemoryStore


@asynccontextmanager
async def running(reconciler: Reconciler, store: MemoryStore | SqlStore) -> AsyncIterator[None]:
    """Deliver what the store has while the block lasts."""
    stop = store.listen(reconciler.mark_changed)
    try:
        async with beside(reconciler.run()):
            yield
    finally:
        stop()
