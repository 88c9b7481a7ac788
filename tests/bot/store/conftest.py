"""All stores, empty, for each contract test."""

from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest

from bot.store.sql_store import SqlStore
from tests.support.memory_store import MemoryStore
from tests.support.new_store import new_store

Stores = MemoryStore | SqlStore


# The URL of an empty store of each back end, by its scheme.
URLS: Mapping[str, Callable[[Path], str]] = {
    "sqlite": new_store,
}
UNTESTED = {"postgresql": "it is not supported yet: its statements are compared"}


@pytest.fixture(params=["memory", *URLS])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    opened: Stores
    if request.param == "memory":
        opened = MemoryStore()
    else:
        opened = await SqlStore.open(URLS[request.param](tmp_path))
    yield opened
    await opened.close()
