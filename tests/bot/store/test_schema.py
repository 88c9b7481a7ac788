"""This file proves that the migrations make the schema that the program uses, and that a newer one is refused."""

import asyncio
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect, text

from bot.store.dialects import make_engine
from bot.store.migrate import NewerSchemaError, StoreError, migrate
from bot.store.sql_rows import METADATA
from bot.store.sql_store import SqlStore
from tests.support.rows import a_gesture


def _url(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder / 'yard.db'}"


def _tables(connection: Connection) -> dict[str, object]:
    seen = inspect(connection)
    return {
        name: (
            [(column["name"], str(column["type"]), column["nullable"]) for column in seen.get_columns(name)],
            seen.get_pk_constraint(name)["constrained_columns"],
            sorted((index["name"], tuple(index["column_names"])) for index in seen.get_indexes(name)),
        )
        for name in seen.get_table_names()
        if name != "alembic_version"
    }


async def test_the_migrations_make_what_the_table_of_tables_says(tmp_path: Path) -> None:
    migrated, meant = make_engine(_url(tmp_path)), make_engine("sqlite+aiosqlite:///:memory:")
    try:
        await migrate(migrated)
        async with migrated.connect() as connection:
            made = await connection.run_sync(_tables)
        async with meant.begin() as connection:
            await connection.run_sync(METADATA.create_all)
            wanted = await connection.run_sync(_tables)
    finally:
        await migrated.dispose()
        await meant.dispose()
    assert made == wanted


async def test_a_second_start_keeps_what_is_there(tmp_path: Path) -> None:
    first = await SqlStore.open(_url(tmp_path))
    async with first.unit() as unit:
        await unit.handled_requests.put(a_gesture())
    await first.close()
    second = await SqlStore.open(_url(tmp_path))
    async with second.unit() as unit:
        assert await unit.handled_requests.get("g1") == a_gesture()
    await second.close()


async def test_two_starts_at_once_migrate_once(tmp_path: Path) -> None:
    stores = await asyncio.gather(*(SqlStore.open(_url(tmp_path)) for _ in range(3)))
    for store in stores:
        async with store.unit() as unit:
            await unit.next_number("incident")
    async with stores[0].unit() as unit:
        assert await unit.next_number("incident") == 4
    for store in stores:
        await store.close()


async def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    store = await SqlStore.open(_url(tmp_path))
    await store.close()
    with sqlite3.connect(tmp_path / "yard.db") as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    raw.close()
    with pytest.raises(NewerSchemaError, match=r"schema is 9999.*none after 0001: run the newer"):
        await SqlStore.open(_url(tmp_path))
    with sqlite3.connect(tmp_path / "yard.db") as raw:
        assert raw.execute("SELECT version_num FROM alembic_version").fetchall() == [("9999",)]
    raw.close()


async def test_sqlite_is_set_to_survive_a_power_cut(tmp_path: Path) -> None:
    store = await SqlStore.open(_url(tmp_path))
    await store.close()
    engine = make_engine(_url(tmp_path))
    async with engine.connect() as connection:
        asked = {
            pragma: (await connection.execute(text(f"PRAGMA {pragma}"))).scalar_one()
            for pragma in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    await engine.dispose()
    assert asked == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}


@pytest.mark.parametrize(
    ("url", "words"),
    [
        pytest.param("mysql+aiomysql://db/yard", "names mysql: use sqlite", id="another database"),
        pytest.param("yard.db", "is not a database URL: write it like", id="a path alone"),
        pytest.param(
            "sqlite:////tmp/yard.db", "driver .* cannot be used: .* sqlite\\+aiosqlite", id="a sync driver"
        ),
        pytest.param(
            "sqlite+none:////tmp/yard.db", "driver .* cannot be used", id="a driver that is not there"
        ),
    ],
)
async def test_a_wrong_url_says_what_to_write(url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        await SqlStore.open(url)


async def test_a_folder_that_is_missing_is_said_in_one_line_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        await SqlStore.open(_url(tmp_path / "none"))
    assert str(caught.value) == (
        f"the store {tmp_path}/none/yard.db cannot be opened: unable to open database file: "
        "see that its folder is there and that this user may write in it, or correct store.url"
    )


async def test_a_file_that_is_no_database_is_said_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "yard.db").write_text("a letter to grandmother\n" * 100, encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be opened: file is not a database: "):
        await SqlStore.open(_url(tmp_path))
    assert (tmp_path / "yard.db").read_text(encoding="utf-8").startswith("a letter")


async def test_the_driver_is_never_given_a_file_that_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread would still be answering when the loop is closed, and nobody could wait for it."""
    given: list[object] = []
    monkeypatch.setattr("aiosqlite.connect", lambda *where, **_how: given.append(where))
    (tmp_path / "letter.db").write_text("a letter to grandmother\n" * 100, encoding="utf-8")
    for path in (tmp_path / "none" / "yard.db", tmp_path / "letter.db"):
        with pytest.raises(StoreError):
            await SqlStore.open(f"sqlite+aiosqlite:///{path}")
    assert not given


async def test_a_file_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "yard.db").close()
    with pytest.raises(StoreError, match="cannot be opened: attempt to write a readonly database: "):
        await SqlStore.open(f"sqlite+aiosqlite:///file:{tmp_path / 'yard.db'}?mode=ro&uri=true")
