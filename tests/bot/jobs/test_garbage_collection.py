"""Objects in cycles are freed now and then, although no full collection runs by itself."""

import asyncio
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from bot.jobs.garbage_collection import EVERY, collect_in_small_parts, collect_periodically


@pytest.fixture
def _restored() -> Iterator[None]:
    threshold = gc.get_threshold()
    yield
    gc.set_threshold(*threshold)
    gc.unfreeze()


class Knot:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.me = self


@pytest.mark.usefixtures("_restored")
@pytest.mark.looptime
async def test_old_objects_in_a_cycle_are_freed(looptime: Any) -> None:
    collect_in_small_parts()
    knot = Knot()
    seen = weakref.ref(knot)
    gc.collect(1)  # it is old now
    del knot
    for _ in range(50_000):
        Knot()
    assert seen() is not None
    async with asyncio.TaskGroup() as group:
        task = group.create_task(collect_periodically())
        await asyncio.sleep(EVERY + 1)
        task.cancel()
    assert seen() is None
