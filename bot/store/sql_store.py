"""The SQL store, in the database of any back end."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Table as SqlTable
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from alerts.store import (
    TABLES,
    Changed,
    Listener,
    Row,
    StoreError,
    StoreSnapshot,
    Unit,
    moment_text,
    table_of,
)
from bot.store.backends.backend import Backend
from bot.store.backends.backend_catalogue import DATABASE_ERRORS, backend_of, engine_of
from bot.store.concurrency import ChangeSignal, WriteLock, uninterrupted
from bot.store.documents import Documents
from bot.store.migrate import migrate
from bot.store.sql_rows import SqlRows
from bot.store.sql_schema import NUMBERS, sql_table
from bot.store.store_errors import WriteFailures, as_store_errors, unusable
from bot.store.store_file import StoreFile, StoreGoneError, hold
from collectors.internal_errors import InternalErrors

PRUNED_AT_ONCE = 500  # rows per transaction, because other units wait for it


@dataclass(eq=False, repr=False)  # its address may hold a password
class SqlStore:
    """Stores rows in a database. One unit at a time: keep them short, and do no other I/O in one."""

    _backend: Backend
    _engine: AsyncEngine
    _read_engine: AsyncEngine
    _on_commit: Callable[[float], None]
    _errors: InternalErrors
    _file: StoreFile | None
    _write_lock: WriteLock = field(default_factory=WriteLock, init=False)
    _changes: ChangeSignal = field(default_factory=ChangeSignal, init=False)
    _failures: WriteFailures = field(default_factory=WriteFailures, init=False)
    _documents: Documents = field(default_factory=Documents, init=False)

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        on_commit: Callable[[float], None] = lambda _seconds: None,
        errors: InternalErrors | None = None,
        alone: bool = False,
    ) -> "SqlStore":
        """Open the database and bring its schema up to date. `alone`: hold it, and refuse if another process does.

        `on_commit` is called after each transaction that changed rows, with the seconds that writing them took.

        Raises ValueError for a wrong URL or an unsupported database, NewerSchemaError if a newer program
        migrated it, and StoreError if it cannot be opened.
        """
        backend = backend_of(url)
        backend.check()
        engine = engine_of(backend)
        path, lock = backend.file, None
        try:
            if alone and path is not None:
                lock = await hold(path)
            await uninterrupted(migrate(backend, engine))
            file = StoreFile(path, lock) if path is not None else None
        except BaseException as error:
            await engine.dispose()
            if lock is not None:
                lock.close()
            if isinstance(error, DATABASE_ERRORS):
                raise unusable(backend, "cannot be opened", error) from error
            raise
        reads = engine_of(backend, reads=True)
        return cls(backend, engine, reads, on_commit, errors or InternalErrors(), file)

    @classmethod
    def to_read(cls, url: str) -> "SqlStore":
        """Return the store of another process, to read from it only. Raises ValueError as `open` does."""
        backend = backend_of(url)
        return cls(
            backend,
            engine_of(backend, reads=True),
            engine_of(backend, reads=True),
            lambda _seconds: None,
            InternalErrors(),
            None,
        )

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each commit with the changed rows. Return a function that removes it."""
        return self._changes.listen(listener)

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Unit]:
        """Open a transaction: all of its changes are stored, or none. If cancelled in the commit, either.

        Raises StoreError if it cannot be stored: StoreGoneError, at its beginning or before it is committed, if the
        file is no longer there.
        """
        async with self._write_lock.hold():
            self._check_file()
            changed: Changed = {}
            try:
                with as_store_errors(self._backend, "cannot be written"):
                    async with _begun(self._engine) as connection:
                        transaction = _Transaction(self._backend, connection, self._errors, self._documents)
                        yield transaction
                        began = asyncio.get_running_loop().time()
                        await transaction.flush()
                        self._check_file()
                        changed = transaction.changed()  # from here on even a cancellation commits
                if changed:
                    self._failures.end()
                    self._on_commit(asyncio.get_running_loop().time() - began)
            except StoreError as error:
                changed = {}
                self._failures.note(error)
                raise
            except Exception:
                changed = {}
                raise
            finally:
                self._changes.publish(changed)

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[StoreSnapshot]:
        """Open a snapshot of what is committed. It neither waits for an open unit nor delays one."""
        with as_store_errors(self._backend, "cannot be read"):
            async with _begun(self._read_engine) as connection:
                yield _Transaction(self._backend, connection, self._errors, self._documents)

    async def prune(self, before: datetime) -> dict[str, int]:
        """Delete the rows that were over before then. Return the number of deleted rows per table."""
        deleted: dict[str, int] = {}
        for table in TABLES.values():
            if table.over is None:
                continue
            while count := await self._prune_some(table.name, before, deleted):
                if count < PRUNED_AT_ONCE:
                    break
        return deleted

    async def _prune_some(self, name: str, before: datetime, deleted: dict[str, int]) -> int:
        sql = sql_table(name)
        old = select(sql.c.id).where(sql.c.over_at < moment_text(before)).limit(PRUNED_AT_ONCE)
        self._check_file()
        async with self._write_lock.hold():
            with as_store_errors(self._backend, "cannot be written"):
                async with _begun(self._engine) as connection:
                    ids = list((await uninterrupted(connection.execute(old))).scalars())
                    if ids:
                        await uninterrupted(self._delete(connection, sql, sql.c.id, ids, deleted))
        return len(ids)

    async def _delete(
        self, connection: AsyncConnection, sql: SqlTable, column: Any, ids: list[str], deleted: dict[str, int]
    ) -> None:
        result = await connection.execute(delete(sql).where(self._backend.one_of(column, ids)))
        if result.rowcount:
            deleted[sql.name] = deleted.get(sql.name, 0) + result.rowcount
        for other in TABLES.values():
            if other.goes_with is not None and other.goes_with[1] == sql.name:
                orphans = sql_table(other.name)
                await self._delete(connection, orphans, orphans.c[other.goes_with[0]], ids, deleted)

    def trouble(self) -> StoreError | None:
        """Return why nothing can be stored: the file is gone, or each write of late has failed; None if all is well."""
        if self._file is not None and (reason := self._file.why_gone()):
            return StoreGoneError(reason)
        return self._failures.lasting()

    def _check_file(self) -> None:
        if self._file is not None:
            self._file.check()

    async def close(self) -> None:
        await self._read_engine.dispose()
        await self._engine.dispose()
        if self._file is not None:
            self._file.release()


@asynccontextmanager
async def _begun(engine: AsyncEngine) -> AsyncGenerator[AsyncConnection]:
    """Open a connection and its transaction: committed at the end, or rolled back with an error."""
    connection = engine.connect()
    try:
        await uninterrupted(_open(connection))
        yield connection
        await uninterrupted(connection.commit())
    finally:
        await uninterrupted(_close(connection))


async def _open(connection: AsyncConnection) -> None:
    await connection.start()
    await connection.begin()


async def _close(connection: AsyncConnection) -> None:
    if connection.sync_connection is not None:
        await connection.close()  # rolls back what was not committed


@dataclass(slots=True, repr=False)
class _Transaction:
    backend: Backend
    connection: AsyncConnection
    errors: InternalErrors
    documents: Documents
    _touched: dict[str, SqlRows[Any]] = field(default_factory=dict, init=False)

    def rows(self, row: type[Row]) -> SqlRows[Row]:
        table = table_of(row)
        if table.name not in self._touched:
            self._touched[table.name] = SqlRows(
                table, self.backend, self.connection, self.errors, self.documents
            )
        return self._touched[table.name]

    async def next_number(self, of: str, count: int = 1) -> int:
        first = self.backend.insert_into(NUMBERS).values(name=of, last=count)
        upsert = first.on_conflict_do_update(index_elements=["name"], set_={"last": NUMBERS.c.last + count})
        found = await uninterrupted(self.connection.execute(upsert.returning(NUMBERS.c.last)))
        return int(found.scalar_one()) - count + 1

    async def flush(self) -> None:
        for rows in self._touched.values():
            await rows.flush()

    def changed(self) -> Changed:
        return {name: rows.changed for name, rows in self._touched.items() if rows.changed}
