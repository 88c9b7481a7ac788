"""Connections of aiosqlite that make one call in its thread for each statement; its own cursors make four.

Beside other work every return to the event loop waits for its turn, and a small transaction has a dozen statements.
"""

import sqlite3
from collections.abc import Callable, Generator, Sequence
from threading import Thread
from typing import Any

import aiosqlite

_AT_ONCE = 64  # rows that aiosqlite would fetch, if it fetched any


class OneCallConnection(aiosqlite.Connection):
    """Its cursors have all rows of a statement when it is executed."""

    def cursor(self) -> Any:
        """Return a cursor, as a context or to be awaited."""
        return _Cursor(self)


async def connected(connector: Callable[[], sqlite3.Connection]) -> OneCallConnection:
    """Return a connection, whose thread does not keep the process from ending."""
    connection = OneCallConnection(connector, _AT_ONCE)
    thread = connection if isinstance(connection, Thread) else connection._thread
    thread.daemon = True
    await connection
    return connection


class _Cursor:
    """What SQLAlchemy uses of a cursor. Nothing of it is left in the thread after a statement."""

    description: Any = None
    rowcount = -1
    lastrowid: int | None = None
    arraysize = 1

    def __init__(self, connection: OneCallConnection) -> None:
        self._connection = connection
        self._rows: list[Any] = []

    def __await__(self) -> Generator[Any, None, "_Cursor"]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> "_Cursor":
        return self

    async def __aexit__(self, *_: object) -> None:
        return

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> "_Cursor":
        return await self._run(lambda cursor: cursor.execute(sql, parameters))

    async def executemany(self, sql: str, parameters: Sequence[Sequence[Any]]) -> "_Cursor":
        return await self._run(lambda cursor: cursor.executemany(sql, parameters))

    async def fetchall(self) -> list[Any]:
        rows, self._rows = self._rows, []
        return rows

    async def close(self) -> None:
        self._rows = []

    async def _run(self, call: Callable[[sqlite3.Cursor], object]) -> "_Cursor":
        def run() -> None:
            cursor = self._connection._conn.cursor()
            try:
                call(cursor)
                self.description, self.lastrowid = cursor.description, cursor.lastrowid
                self._rows = cursor.fetchall() if cursor.description else []
                self.rowcount = cursor.rowcount
            finally:
                cursor.close()

        await self._connection._execute(run)  # type: ignore[no-untyped-call]
        return self
