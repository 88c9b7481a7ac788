"""This file has the SQL store: SQLite by default, PostgreSQL when one machine is not enough."""

import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import Table as SqlTable
from sqlalchemy import delete, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.store.concurrency import ChangeSignal, Listener, WriteLock
from bot.store.dialects import insert_into, make_engine
from bot.store.migrate import StoreError, migrate
from bot.store.schema import TABLES, Row, TableDefinition, moment_text
from bot.store.sql_rows import NUMBERS, SQL_TABLES, SqlRows
from bot.store.unit import StoreUnit

PRUNED_AT_ONCE = 500  # rows in a transaction: others wait for it


class SqlStore:
    """Keeps rows in a database. One unit at a time; keep them short, and never wait on the outside in one."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._write_lock = WriteLock()
        self._changes = ChangeSignal()

    @classmethod
    async def open(cls, url: str) -> "SqlStore":
        """Open the database and bring its schema up to date.

        Raises:
            ValueError: the URL is wrong, or names a database that we do not speak.
            NewerSchemaError: a newer program has been here.
            StoreError: the database cannot be opened.
        """
        engine = make_engine(url)
        try:
            await migrate(engine)
        except (DBAPIError, sqlite3.Error, OSError) as error:
            await engine.dispose()
            raise _cannot_open(engine, error) from error
        except BaseException:
            await engine.dispose()
            raise
        return cls(engine)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` told after each commit which rows changed; the answer ends that."""
        return self._changes.listen(listener)

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[StoreUnit]:
        """One transaction: all of it lands, or none. Cancelled while committing, either may be."""
        async with self._write_lock.hold():
            transaction = None
            try:
                async with self._engine.begin() as connection:
                    transaction = _Transaction(connection)
                    yield StoreUnit(transaction)
                    await transaction.flush()
            except Exception:
                transaction = None
                raise
            finally:
                if (
                    transaction is not None
                ):  # also when the commit's outcome is not known: a look costs little
                    self._changes.publish(transaction.changed())

    async def prune(self, before: datetime) -> dict[str, int]:
        """Forget what was over before that moment. Gives how many rows of each table went."""
        gone: dict[str, int] = {}
        for table in TABLES:
            if table.over is None:
                continue
            while count := await self._prune_some(table.name, before, gone):
                if count < PRUNED_AT_ONCE:
                    break
        return gone

    async def _prune_some(self, name: str, before: datetime, gone: dict[str, int]) -> int:
        sql = SQL_TABLES[name]
        old = select(sql.c.id).where(sql.c.over_at < moment_text(before)).limit(PRUNED_AT_ONCE)
        async with self._write_lock.hold(), self._engine.begin() as connection:
            ids = list((await connection.execute(old)).scalars())
            if ids:
                await _forget(connection, sql, sql.c.id, ids, gone)
        return len(ids)

    async def close(self) -> None:
        await self._engine.dispose()


def _cannot_open(engine: AsyncEngine, error: DBAPIError | sqlite3.Error | OSError) -> StoreError:
    reason = str(error.orig if isinstance(error, DBAPIError) else error).partition("\n")[0]
    if engine.dialect.name == "sqlite":
        where = engine.url.database or "in memory"
        advice = "see that its folder is there and that this user may write in it, or correct store.url"
        if "locked" in reason:
            advice = "another process has it open: stop the other Yardmaster, or give each its own store.url"
    else:
        where = engine.url.render_as_string(hide_password=True)
        advice = "see that the server runs and lets us in, or correct store.url"
    return StoreError(f"the store {where} cannot be opened: {reason}: {advice}")


async def _forget(
    connection: AsyncConnection, sql: SqlTable, column: Any, ids: list[str], gone: dict[str, int]
) -> None:
    result = await connection.execute(delete(sql).where(column.in_(ids)))
    if result.rowcount:
        gone[sql.name] = gone.get(sql.name, 0) + result.rowcount
    for other in TABLES:
        if other.goes_with is not None and other.goes_with[1] == sql.name:
            orphans = SQL_TABLES[other.name]
            await _forget(connection, orphans, orphans.c[other.goes_with[0]], ids, gone)


class _Transaction:
    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._touched: dict[str, SqlRows[Any]] = {}

    def rows(self, table: TableDefinition[Row]) -> SqlRows[Row]:
        rows = self._touched[table.name] = SqlRows(table, self._connection)
        return rows

    async def next_number(self, of: str) -> int:
        first = insert_into(NUMBERS, self._connection.dialect.name).values(name=of, last=1)
        upsert = first.on_conflict_do_update(index_elements=["name"], set_={"last": NUMBERS.c.last + 1})
        return int((await self._connection.execute(upsert.returning(NUMBERS.c.last))).scalar_one())

    async def flush(self) -> None:
        for rows in self._touched.values():
            await rows.flush()

    def changed(self) -> dict[str, frozenset[str]]:
        return {name: frozenset(rows.changed) for name, rows in self._touched.items()}
