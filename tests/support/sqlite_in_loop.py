"""SQLite in the event loop instead of in threads, for tests in virtual time that kill a process.

Each call of the database yields to the loop before and after it takes effect. The file, its log and its locks are
SQLite's own. After `kill` nothing takes effect any more, not even what the code would finish when it is cancelled.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import pytest

from bot.store.backends.sqlite_connection import OneCallConnection


class SqliteInLoop:
    """All connections that are open. `note` is called right before anything changes in a file."""

    def __init__(self, note: Callable[[], None]) -> None:
        self._note = note
        self._open: set[_Connection] = set()
        self.is_dead = False

    @classmethod
    def used_by(cls, monkeypatch: pytest.MonkeyPatch, note: Callable[[], None]) -> "SqliteInLoop":
        """Let all stores that are opened from here on use it."""
        made = cls(note)
        monkeypatch.setattr("bot.store.backends.sqlite.connected", made._connected)
        monkeypatch.setattr(asyncio, "to_thread", made._beside)
        return made

    def kill(self) -> None:
        """Close all connections as the end of a process does: what is not committed is lost."""
        self.is_dead = True
        for connection in self._open:
            connection.stop()
        self._open.clear()

    def revive(self) -> None:
        """Let another process begin."""
        self.is_dead = False

    async def _connected(self, connector: Callable[[], sqlite3.Connection]) -> OneCallConnection:
        connection: _Connection = await _Connection(connector, self)
        self._open.add(connection)
        return connection

    async def call(self, call: Callable[..., Any], *given: Any, changes: bool = False) -> Any:
        """Make a call between two moments at which others run. A process that was killed makes none."""
        await asyncio.sleep(0)
        if self.is_dead:
            raise sqlite3.OperationalError("the process was killed")
        if changes:
            self._note()
        found = call(*given)
        await asyncio.sleep(0)
        return found

    async def _beside(self, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return await self.call(lambda: call(*given, **named), changes=True)


class _Connection(OneCallConnection):
    def __init__(self, connector: Callable[[], sqlite3.Connection], sqlite: SqliteInLoop) -> None:
        super().__init__(connector, 1)
        self._sqlite = sqlite
        self._stored = 0  # changes that are committed
        self._tx: Any = _AtOnce()  # what SQLAlchemy puts in the thread's queue by itself

    def __await__(self) -> Generator[Any, None, Any]:
        return self._begun().__await__()

    async def _begun(self) -> "_Connection":
        self._connection = await self._sqlite.call(self._connector)
        return self

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self._connection is None:
            raise ValueError("Connection closed")
        changes = self._connection.total_changes
        is_commit = fn == self._connection.commit and changes != self._stored
        self._stored = changes if is_commit else self._stored
        return await self._sqlite.call(partial(fn, *args, **kwargs), changes=is_commit)

    async def close(self) -> None:
        self.stop()

    def stop(self) -> None:
        self._running = False
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _AtOnce:
    """A queue whose calls are made when they are put."""

    def put_nowait(self, queued: tuple[Any, Callable[[], Any]]) -> None:
        future, call = queued
        future.set_result(call())
