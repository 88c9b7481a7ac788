"""Objects in cycles are freed now and then, although no full collection runs by itself."""

import asyncio
import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.jobs.garbage_collection import EVERY, collect_in_small_parts, collect_periodically, trim_memory


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


def test_freed_memory_between_what_stands_is_given_back() -> None:
    def resident() -> int:  # pages of 4 KiB
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])

    kept = [bytes(20_000) for _ in range(4_000)]
    del kept[::2], kept[::2], kept[::2]
    before = resident()
    trim_memory()
    assert before - resident() > 5_000
    assert len(kept) == 500
