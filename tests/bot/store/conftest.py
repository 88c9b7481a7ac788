"""Both stores, empty, for each contract test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store.sql_store import SqlStore
from tests.support.memory_store import MemoryStore

Stores = MemoryStore | SqlStore


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    opened: Stores = (
        MemoryStore()
        if request.param == "memory"
        else await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}")
    )
    yield opened
    await opened.close()
