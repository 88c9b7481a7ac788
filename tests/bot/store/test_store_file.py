"""A store's file has one process that acts on it, and is not written to once it is gone."""

import asyncio
import os
import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from alerts.store import StoreError
from bot.store import store_file
from bot.store.sql_store import SqlStore
from bot.store.store_file import StoreGoneError
from commands.models import HandledRequest

HOLDER = """
import asyncio, sys
from bot.store.sql_store import SqlStore

async def main():
    store = await SqlStore.open(sys.argv[1], alone=True)
    print("held", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def url_of(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder / 'yard.db'}"


def a_row(id: str) -> HandledRequest:
    return HandledRequest(id=id, at=datetime(2026, 1, 1, tzinfo=UTC))


async def put(store: SqlStore, id: str) -> None:
    async with store.unit() as unit:
        await unit.rows(HandledRequest).put(a_row(id))


async def ids(store: SqlStore) -> list[str]:
    async with store.read() as snapshot:
        return [row.id for row in await snapshot.rows(HandledRequest).find()]


async def test_a_second_process_is_refused_and_learns_who_holds_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_file, "HELD_FOR", timedelta(milliseconds=100))
    first = await SqlStore.open(url_of(tmp_path), alone=True)
    with pytest.raises(StoreError, match=f"held by another Yardmaster .process {os.getpid()} on "):
        await SqlStore.open(url_of(tmp_path), alone=True)
    await put(first, "a")
    await first.close()
    second = await SqlStore.open(url_of(tmp_path), alone=True)
    assert await ids(second) == ["a"]
    await second.close()


async def test_after_a_kill_the_next_process_holds_it_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        HOLDER,
        url_of(tmp_path),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert holder.stdout is not None
    while await holder.stdout.readline() not in (b"held\n", b""):
        pass
    monkeypatch.setattr(store_file, "HELD_FOR", timedelta(milliseconds=50))  # one try
    with pytest.raises(StoreError, match=f"process {holder.pid} on "):
        await SqlStore.open(url_of(tmp_path), alone=True)
    holder.kill()
    await holder.wait()
    store = await SqlStore.open(url_of(tmp_path), alone=True)
    await store.close()


async def test_a_deleted_file_is_not_written_to_until_it_is_back(tmp_path: Path) -> None:
    store, file = await SqlStore.open(url_of(tmp_path), alone=True), tmp_path / "yard.db"
    await put(store, "a")
    file.rename(tmp_path / "away")
    with pytest.raises(StoreGoneError, match=r"was deleted .* `yardmaster store restore`"):
        await put(store, "b")
    with pytest.raises(StoreGoneError):
        await store.prune(datetime(2026, 1, 1, tzinfo=UTC))
    (tmp_path / "away").rename(file)
    assert store.trouble() is None
    await put(store, "c")
    assert await ids(store) == ["a", "c"]
    await store.close()


async def test_a_reader_puts_no_empty_file_in_the_place_of_one_that_is_gone(tmp_path: Path) -> None:
    store, file = await SqlStore.open(url_of(tmp_path), alone=True), tmp_path / "yard.db"
    await put(store, "a")
    file.rename(tmp_path / "away")
    with pytest.raises(StoreError):
        await ids(store)
    assert not file.exists()
    (tmp_path / "away").rename(file)
    assert await ids(store) == ["a"]
    await store.close()


async def test_a_file_that_goes_within_a_unit_does_not_get_it(tmp_path: Path) -> None:
    store, file = await SqlStore.open(url_of(tmp_path), alone=True), tmp_path / "yard.db"

    async def lose_it_within_a_unit() -> None:
        async with store.unit() as unit:
            await unit.rows(HandledRequest).put(a_row("a"))
            file.rename(tmp_path / "away")

    with pytest.raises(StoreGoneError):
        await lose_it_within_a_unit()
    (tmp_path / "away").rename(file)
    assert await ids(store) == []
    await store.close()


async def test_a_replaced_file_is_not_written_to(tmp_path: Path) -> None:
    store, file = await SqlStore.open(url_of(tmp_path), alone=True), tmp_path / "yard.db"
    shutil.copy(file, tmp_path / "backup")
    (tmp_path / "backup").replace(file)
    with pytest.raises(StoreGoneError, match="was replaced while"):
        await put(store, "a")
    await store.close()


async def test_without_its_lock_a_process_stops_acting(tmp_path: Path) -> None:
    """Another process would find no lock, and act too."""
    store = await SqlStore.open(url_of(tmp_path), alone=True)
    (tmp_path / "yard.db.lock").unlink()
    with pytest.raises(StoreGoneError):
        await put(store, "a")
    await store.close()
