"""The differences between SQLite and PostgreSQL."""

import asyncio
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import (
    AsyncAdaptedQueuePool,
    ColumnElement,
    Connection,
    Table,
    Text,
    any_,
    event,
    func,
    literal,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

BUSY = timedelta(seconds=10)  # how long to wait for another process's transaction
BUSY_AGAIN = timedelta(milliseconds=50)
READERS = 4  # snapshots at a time
WRITER = 7_263_101  # PostgreSQL's advisory lock of the writer; an arbitrary number that must never change


def make_engine(url: str, *, reads: bool = False) -> AsyncEngine:
    """Return an engine with one write transaction at a time, or with `reads` one for snapshots.

    Raises ValueError for an unsupported database.
    """
    try:
        backend = make_url(url).get_backend_name()
    except Exception as error:
        raise ValueError(
            "store.url is not a database URL: write it like sqlite+aiosqlite:////path/yard.db"
        ) from error
    try:
        match backend:
            case "sqlite":
                size = READERS if reads else 1
                engine = create_async_engine(
                    url, poolclass=AsyncAdaptedQueuePool, pool_size=size, max_overflow=0
                )
                event.listen(engine.sync_engine, "connect", _set_up_sqlite)
                event.listen(engine.sync_engine, "begin", _begin_sqlite_read if reads else _begin_sqlite)
            case "postgresql":
                size = READERS if reads else 2
                engine = create_async_engine(url, pool_size=size, max_overflow=0, pool_pre_ping=True)
                event.listen(
                    engine.sync_engine, "begin", _begin_postgresql_read if reads else _begin_postgresql
                )
            case other:
                raise ValueError(f"store.url names {other}: use sqlite+aiosqlite or postgresql+asyncpg")
    except (SQLAlchemyError, ImportError) as error:
        raise ValueError(
            f"the driver of store.url ({make_url(url).drivername}) cannot be used: "
            "write sqlite+aiosqlite, or postgresql+asyncpg with asyncpg installed"
        ) from error
    return engine


def file_of(url: str) -> Path | None:
    """Return the file of a store's URL; None if the database is a server's."""
    made = make_url(url)
    if made.get_backend_name() != "sqlite" or not made.database or made.database.startswith("file:"):
        return None
    return Path(made.database)


async def prepare(engine: AsyncEngine) -> None:
    """Set what a database file stores permanently: SQLite's write-ahead log. Raises if the file stays locked.

    This uses sqlite3 directly, so that a file that cannot be opened is found here: the async driver's thread
    outlives a failed connection.
    """
    if engine.dialect.name != "sqlite":
        return
    tries = round(BUSY / BUSY_AGAIN)
    for attempt in range(tries):
        try:
            return await asyncio.to_thread(_write_ahead, engine)
        except sqlite3.OperationalError as error:  # the busy timeout does not apply to this statement
            if attempt == tries - 1 or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            await asyncio.sleep(BUSY_AGAIN.total_seconds())


def _write_ahead(engine: AsyncEngine) -> None:
    path: Any
    path, options = engine.dialect.create_connect_args(engine.url)
    with closing(sqlite3.connect(*path, **options)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")


def insert_into(table: Table, dialect: str) -> "sqlite.Insert | postgresql.Insert":
    """Return an INSERT that supports ON CONFLICT."""
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)


def one_of(column: ColumnElement[str], values: Iterable[str], dialect: str) -> ColumnElement[bool]:
    """Return the condition that the column has one of these values: one parameter of the statement, however many."""
    if dialect == "postgresql":
        return column == any_(literal(list(values), postgresql.ARRAY(Text)))
    each = func.json_each(json.dumps(list(values))).table_valued("value")
    return column.in_(select(each.c.value))


def _set_up_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # else the driver begins transactions by itself, and late
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={round(BUSY.total_seconds() * 1000)}")
    cursor.execute("PRAGMA synchronous=FULL")  # NORMAL would lose commits in a power cut
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _begin_sqlite_read(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")


def _begin_postgresql_read(connection: Connection) -> None:
    connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")


def _begin_postgresql(connection: Connection) -> None:
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITER})")
