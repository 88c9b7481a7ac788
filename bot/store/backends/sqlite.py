"""SQLite: the store is a file, with a write-ahead log."""

import asyncio
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from sqlalchemy import (
    AsyncAdaptedQueuePool,
    ColumnElement,
    Connection,
    Table,
    create_engine,
    event,
    func,
    select,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bot.store.backends.backend import BUSY, READERS, Backend, Beside
from bot.store.backends.sqlite_connection import connected
from collectors.facts.sentences import Sentence, sentence

_BUSY_AGAIN = timedelta(milliseconds=50)
_OF_ACCESS = (  # of errors: the others are the content's
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
)
_REASONS = {
    sqlite3.SQLITE_FULL: sentence("the disk of its store is full"),
    sqlite3.SQLITE_READONLY: sentence("its store is read-only"),
    sqlite3.SQLITE_BUSY: sentence("another process has locked its store"),
    sqlite3.SQLITE_LOCKED: sentence("another process has locked its store"),
    sqlite3.SQLITE_IOERR: sentence("the disk of its store fails"),
    sqlite3.SQLITE_CORRUPT: sentence("its store is damaged"),
    sqlite3.SQLITE_NOTADB: sentence("its store is damaged"),
}
_DAMAGED = (
    "the file is damaged or half migrated: `yardmaster store check` says what is wrong with it, and "
    "`yardmaster store restore BACKUP` puts a backup in its place"
)


class Sqlite(Backend):
    """A store in an SQLite file."""

    scheme: ClassVar[str] = "sqlite"
    example: ClassVar[str] = "sqlite+aiosqlite:////path/yard.db"
    errors: ClassVar[tuple[type[Exception], ...]] = (sqlite3.Error,)

    def check(self) -> None:
        if self.database in ("", ":memory:"):
            raise ValueError(f"store.url names no file: write it like {self.example}")

    @property
    def driver_url(self) -> str:
        """The URL as SQLAlchemy takes it."""
        return self.url

    @property
    def database(self) -> str:
        return make_url(self.driver_url).database or ""

    @property
    def file(self) -> Path | None:
        return Path(self.database) if self.database and not self.database.startswith("file:") else None

    def beside(self, suffix: str) -> Beside | None:
        if self.file is None:
            return None
        url = make_url(self.url).set(database=f"{self.database}{suffix}")
        other = Sqlite(url.render_as_string(hide_password=False))
        engine = create_engine(url.set(drivername=self.scheme), connect_args={"check_same_thread": False})
        event.listen(engine, "connect", _set_up)
        event.listen(engine, "begin", _begin)
        return Beside(backend=other, file=Path(other.database), engine=engine)

    def engine(self, *, reads: bool = False) -> AsyncEngine:
        size = READERS if reads else 1
        engine = create_async_engine(
            self.driver_url,
            poolclass=AsyncAdaptedQueuePool,
            pool_size=size,
            max_overflow=0,
            async_creator=partial(connected, self._connect_to_read if reads else self._connect),
        )
        event.listen(engine.sync_engine, "connect", _set_up)
        event.listen(engine.sync_engine, "begin", _begin_read if reads else _begin)
        return engine

    def _connect_to_read(self) -> sqlite3.Connection:
        """Open no connection to a file that is gone: SQLite would make an empty one in its place."""
        if self.file is not None and not self.file.exists():
            raise sqlite3.OperationalError("the file is gone")
        return self._connect()

    def _connect(self) -> sqlite3.Connection:
        url = make_url(self.driver_url)
        path: Any
        path, options = url.get_dialect()().create_connect_args(url)
        connection: sqlite3.Connection = sqlite3.connect(*path, **options)
        return connection

    async def prepare(self) -> None:
        """Set the write-ahead log. Raises if the file stays locked.

        This uses sqlite3 directly, so that a file that cannot be opened is found here: the async driver's thread
        outlives a failed connection.
        """
        tries = round(BUSY / _BUSY_AGAIN)
        for attempt in range(tries):
            try:
                return await asyncio.to_thread(self._write_ahead)
            except sqlite3.OperationalError as error:  # the busy timeout does not apply to this statement
                if attempt == tries - 1 or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                await asyncio.sleep(_BUSY_AGAIN.total_seconds())

    def _write_ahead(self) -> None:
        with closing(self._connect()) as connection:
            connection.execute("PRAGMA journal_mode=WAL")

    def insert_into(self, table: Table) -> sqlite.Insert:
        return sqlite.insert(table)

    def one_of(self, column: ColumnElement[str], values: Iterable[str]) -> ColumnElement[bool]:
        each = func.json_each(json.dumps(list(values))).table_valued("value")
        return column.in_(select(each.c.value))

    @property
    def where(self) -> str:
        return self.database

    def advice(self, cause: BaseException) -> str:
        if "locked" in str(cause):
            return "another process has it open: stop the other Yardmaster, or give each its own store.url"
        if _code(cause) == sqlite3.SQLITE_FULL:
            return "make room on its disk"
        if isinstance(cause, OSError) or _code(cause) in _OF_ACCESS:
            return "check that its directory exists and is writable, or correct store.url"
        return _DAMAGED

    def reason(self, cause: BaseException) -> Sentence:
        return _REASONS.get(_code(cause)) or Backend.reason(self, cause)


def _code(cause: BaseException) -> int:
    """Return SQLite's primary error code, 0 for another error."""
    return int(getattr(cause, "sqlite_errorcode", 0)) & 0xFF


def _set_up(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # else the driver begins transactions by itself, and late
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={round(BUSY.total_seconds() * 1000)}")
    cursor.execute("PRAGMA synchronous=FULL")  # NORMAL would lose commits in a power cut
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _begin_read(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")
