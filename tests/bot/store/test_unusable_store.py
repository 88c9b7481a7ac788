"""A store that cannot be used says why, to its operator and to others, and heals by itself."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from alerts.store import StoreError
from bot.store import store_errors
from bot.store.backends import sqlite
from bot.store.sql_store import SqlStore
from commands.models import HandledRequest
from tests.support.store_faults import FAULTS, fault_of

ROW = HandledRequest(id="a", at=datetime(2026, 1, 1, tzinfo=UTC))
BIG = "b" * 9_000  # it takes pages of its own


async def put(store: SqlStore, id: str) -> None:
    async with store.unit() as unit:
        await unit.rows(HandledRequest).put(HandledRequest(id=id, at=ROW.at))


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_is_an_error_with_its_reason_and_nothing_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(sqlite, "BUSY", timedelta(milliseconds=50))
    monkeypatch.setattr(store_errors, "LASTING", 0.0)
    with fault_of(name, tmp_path / "yard.db") as fault:
        store = await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}", alone=True)
        await put(store, "before")
        fault.begin()
        with pytest.raises(StoreError) as error:
            await put(store, BIG)
        assert error.value.reason == fault.reason
        trouble = store.trouble()
        assert trouble is not None
        assert trouble.reason == fault.reason
        assert str(tmp_path / "yard.db") in str(trouble)
        fault.end()
        await put(store, "after")
        assert store.trouble() is None
        async with store.read() as snapshot:
            assert [one.id for one in await snapshot.rows(HandledRequest).find()] == ["before", "after"]
        await store.close()


async def test_a_failure_that_does_not_last_is_no_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY", timedelta(milliseconds=50))
    with fault_of("locked", tmp_path / "yard.db") as fault:
        store = await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}", alone=True)
        fault.begin()
        with pytest.raises(StoreError, match="stop the other Yardmaster"):
            await put(store, "a")
        assert store.trouble() is None
        fault.end()
        await store.close()


async def test_a_mistake_of_ours_is_not_the_store_s(tmp_path: Path) -> None:
    store = await SqlStore.open(f"sqlite+aiosqlite:///{tmp_path / 'yard.db'}", alone=True)

    async def breaks() -> None:
        async with store.unit():
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        await breaks()
    assert store.trouble() is None
    await store.close()
