"""The migrations produce the program's schema, and a newer schema is refused."""

import asyncio
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect, text

import bot.wiring  # noqa: F401 - imports every module that declares a table
from alerts.store import TABLES, StoreError
from bot.store.backends.backend_catalogue import backend_of
from bot.store.migrate import NewerSchemaError, migrate
from bot.store.sql_schema import METADATA, sql_table
from bot.store.sql_store import SqlStore
from commands.models import HandledRequest
from tests.support.rows import a_handled_request


def _url(folder: Path) -> str:
    return f"sqlite+aiosqlite:///{folder / 'yard.db'}"


def _tables(connection: Connection) -> dict[str, object]:
    seen = inspect(connection)
    return {
        name: (
            sorted(
                (column["name"], str(column["type"]), column["nullable"]) for column in seen.get_columns(name)
            ),
            seen.get_pk_constraint(name)["constrained_columns"],
            sorted((index["name"], tuple(index["column_names"])) for index in seen.get_indexes(name)),
        )
        for name in seen.get_table_names()
        if name != "alembic_version"
    }


def _create_declared(connection: Connection) -> None:
    for name in TABLES:
        sql_table(name)
    METADATA.create_all(connection)


async def test_the_migrations_produce_the_schema_of_the_program(tmp_path: Path) -> None:
    backend = backend_of(_url(tmp_path))
    migrated, expected = backend.engine(), backend_of("sqlite+aiosqlite:///:memory:").engine()
    try:
        await migrate(backend, migrated)
        async with migrated.connect() as connection:
            made = await connection.run_sync(_tables)
        async with expected.begin() as connection:
            await connection.run_sync(_create_declared)
            wanted = await connection.run_sync(_tables)
    finally:
        await migrated.dispose()
        await expected.dispose()
    forgotten = sorted(set(wanted) - set(made))
    assert not forgotten, f"no migration in bot/store/migrations creates {', '.join(forgotten)}"
    assert made == wanted


async def test_a_second_start_keeps_the_rows(tmp_path: Path) -> None:
    first = await SqlStore.open(_url(tmp_path))
    async with first.unit() as unit:
        await unit.rows(HandledRequest).put(a_handled_request())
    await first.close()
    second = await SqlStore.open(_url(tmp_path))
    async with second.unit() as unit:
        assert await unit.rows(HandledRequest).get("g1") == a_handled_request()
    await second.close()


async def test_a_transaction_that_changed_rows_is_reported_with_its_duration(tmp_path: Path) -> None:
    seconds: list[float] = []
    store = await SqlStore.open(_url(tmp_path), on_commit=seconds.append)
    async with store.unit() as unit:
        await unit.rows(HandledRequest).find()
    assert seconds == []
    async with store.unit() as unit:
        await unit.rows(HandledRequest).put(a_handled_request())
    await store.close()
    (once,) = seconds
    assert once > 0


async def test_simultaneous_starts_migrate_once(tmp_path: Path) -> None:
    stores = await asyncio.gather(*(SqlStore.open(_url(tmp_path)) for _ in range(3)))
    for store in stores:
        async with store.unit() as unit:
            await unit.next_number("incident")
    async with stores[0].unit() as unit:
        assert await unit.next_number("incident") == 4
    for store in stores:
        await store.close()


async def test_a_newer_schema_is_refused_and_left_unchanged(tmp_path: Path) -> None:
    store = await SqlStore.open(_url(tmp_path))
    await store.close()
    with sqlite3.connect(tmp_path / "yard.db") as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    raw.close()
    with pytest.raises(
        NewerSchemaError, match=r"schema is 9999, newer than this program's \d{4}: run the newer"
    ):
        await SqlStore.open(_url(tmp_path))
    with sqlite3.connect(tmp_path / "yard.db") as raw:
        assert raw.execute("SELECT version_num FROM alembic_version").fetchall() == [("9999",)]
    raw.close()


async def test_sqlite_is_configured_to_survive_a_power_cut(tmp_path: Path) -> None:
    store = await SqlStore.open(_url(tmp_path))
    await store.close()
    engine = backend_of(_url(tmp_path)).engine()
    async with engine.connect() as connection:
        pragmas = {
            pragma: (await connection.execute(text(f"PRAGMA {pragma}"))).scalar_one()
            for pragma in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    await engine.dispose()
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}


@pytest.mark.parametrize(
    ("url", "error"),
    [
        pytest.param("mysql+aiomysql://db/yard", "names mysql: use sqlite", id="another database"),
        pytest.param("sqlite+aiosqlite://", "names no file: write it like", id="in memory"),
        pytest.param("yard.db", "is not a database URL: write it like", id="a path alone"),
        pytest.param(
            "sqlite:////tmp/yard.db", "driver .* cannot be used: .* sqlite\\+aiosqlite", id="a sync driver"
        ),
        pytest.param(
            "sqlite+none:////tmp/yard.db", "driver .* cannot be used", id="a driver that is not there"
        ),
    ],
)
async def test_the_error_for_an_invalid_url_names_the_valid_form(url: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        await SqlStore.open(url)


async def test_a_missing_folder_is_reported_in_one_line_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        await SqlStore.open(_url(tmp_path / "none"))
    assert str(caught.value) == (
        f"the store {tmp_path}/none/yard.db cannot be opened: unable to open database file: "
        "check that its directory exists and is writable, or correct store.url"
    )


async def test_a_file_that_is_not_a_database_is_reported_and_left_unchanged(tmp_path: Path) -> None:
    (tmp_path / "yard.db").write_text("a plain text file\n" * 100, encoding="utf-8")
    with pytest.raises(StoreError, match="cannot be opened: file is not a database: "):
        await SqlStore.open(_url(tmp_path))
    assert (tmp_path / "yard.db").read_text(encoding="utf-8").startswith("a plain")


async def test_the_driver_never_opens_a_file_that_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread would still answer after the loop is closed, and nothing could wait for it."""
    opened: list[object] = []
    monkeypatch.setattr("aiosqlite.connect", lambda *args, **_options: opened.append(args))
    (tmp_path / "text.db").write_text("a plain text file\n" * 100, encoding="utf-8")
    for path in (tmp_path / "none" / "yard.db", tmp_path / "text.db"):
        with pytest.raises(StoreError):
            await SqlStore.open(f"sqlite+aiosqlite:///{path}")
    assert not opened


async def test_a_read_only_file_is_reported(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "yard.db").close()
    with pytest.raises(StoreError, match="cannot be opened: attempt to write a readonly database: "):
        await SqlStore.open(f"sqlite+aiosqlite:///file:{tmp_path / 'yard.db'}?mode=ro&uri=true")
