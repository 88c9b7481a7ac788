"""A unit that is cancelled at any point leaves the database free: nothing open, nothing locked."""

import asyncio
import gc
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from alerts.cards.posted import PostedCard
from bot.store.concurrency import uninterrupted
from bot.store.sql_store import SqlStore
from tests.support.new_store import new_store
from tests.support.rows import a_card


@pytest.fixture(autouse=True)
def _no_garbage_collector() -> Iterator[None]:
    """It would close a forgotten connection, and hide it."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def _use(store: SqlStore) -> None:
    while True:
        async with store.unit() as unit:
            await unit.next_number("plan")
            await unit.rows(PostedCard).put(a_card())
            await unit.rows(PostedCard).find()


def _lock(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("seed", range(20))
async def test_after_cancelled_units_and_close_another_process_gets_the_database_at_once(
    tmp_path: Path, seed: int, times: int
) -> None:
    chance = random.Random(seed)
    store = await SqlStore.open(new_store(tmp_path))
    async with asyncio.TaskGroup() as tasks:
        users = [tasks.create_task(_use(store)) for _ in range(3)]
        await asyncio.sleep(chance.uniform(0, 0.02))
        for _ in range(times):
            for user in users:
                user.cancel()
            for _ in range(chance.randrange(6)):
                await asyncio.sleep(0)
    _lock(tmp_path / "yard.db")
    await store.close()


async def test_a_cancelled_call_goes_on_to_its_end_and_then_cancels() -> None:
    ended: list[str] = []

    async def work() -> None:
        await asyncio.sleep(0.02)
        ended.append("work")

    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(uninterrupted(work()))
        for _ in range(3):
            await asyncio.sleep(0)
            task.cancel()
    assert task.cancelled()
    assert ended == ["work"]


async def test_an_error_of_the_call_is_raised() -> None:
    async def work() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        await uninterrupted(work())
