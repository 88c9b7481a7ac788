"""This file has the store in memory: the twin of the SQL store, for tests and for a run that keeps nothing."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Generic

from bot.store.concurrency import ChangeSignal, Listener, WriteLock
from bot.store.schema import TABLES, Row, TableDefinition
from bot.store.unit import StoreUnit


class MemoryStore:
    """Keeps rows as they are: they are frozen. Opening and committing give way to the loop, as SQL would."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, Any]] = {table.name: {} for table in TABLES}
        self._numbers: dict[str, int] = {}
        self._write_lock = WriteLock()
        self._changes = ChangeSignal()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` told after each commit which rows changed; the answer ends that."""
        return self._changes.listen(listener)

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[StoreUnit]:
        """One transaction: all of it lands, or none."""
        async with self._write_lock.hold():
            await asyncio.sleep(0)
            transaction = _Transaction(self._kept, self._numbers)
            yield StoreUnit(transaction)
            await asyncio.sleep(0)
            transaction.commit()
            self._changes.publish(transaction.changed())
            await asyncio.sleep(0)

    async def prune(self, before: datetime) -> dict[str, int]:
        """Forget what was over before that moment. Gives how many rows of each table went."""
        gone: dict[str, int] = {}
        async with self._write_lock.hold():
            for table in TABLES:
                rows = self._kept[table.name]
                over = table.over
                if over is not None:
                    old = [id for id, row in rows.items() if (at := over(row)) is not None and at < before]
                    self._forget(table.name, old, gone)
        return gone

    def _forget(self, name: str, ids: list[str], gone: dict[str, int]) -> None:
        for id in ids:
            del self._kept[name][id]
        if ids:
            gone[name] = gone.get(name, 0) + len(ids)
        for other in TABLES:
            if other.goes_with is not None and other.goes_with[1] == name:
                column, named = other.goes_with[0], set(ids)
                orphans = [
                    id for id, row in self._kept[other.name].items() if other.read(row)[column] in named
                ]
                self._forget(other.name, orphans, gone)

    async def close(self) -> None:
        """Nothing to close: the rows stay, as a file would."""


class _Transaction:
    def __init__(self, kept: dict[str, dict[str, Any]], numbers: dict[str, int]) -> None:
        self._kept = kept
        self._numbers = numbers
        self._new_numbers = dict(numbers)
        self._touched: dict[str, _Rows[Any]] = {}

    def rows(self, table: TableDefinition[Row]) -> "_Rows[Row]":
        rows = self._touched[table.name] = _Rows(table, self._kept[table.name])
        return rows

    async def next_number(self, of: str) -> int:
        number = self._new_numbers[of] = self._new_numbers.get(of, 0) + 1
        return number

    def commit(self) -> None:
        self._numbers.update(self._new_numbers)
        for name, rows in self._touched.items():
            if rows.changed:
                self._kept[name] = rows.now()

    def changed(self) -> dict[str, frozenset[str]]:
        return {name: frozenset(rows.changed) for name, rows in self._touched.items()}


class _Rows(Generic[Row]):
    """A table as a unit sees it: what was kept, copied at the first change."""

    def __init__(self, table: TableDefinition[Row], kept: dict[str, Row]) -> None:
        self._table = table
        self._rows = kept
        self.changed: set[str] = set()

    def now(self) -> dict[str, Row]:
        return self._rows

    def _mine(self, id: str) -> dict[str, Row]:
        if not self.changed:
            self._rows = dict(self._rows)
        self.changed.add(id)
        return self._rows

    async def get(self, id: str) -> Row | None:
        return self._rows.get(id)

    async def put(self, row: Row) -> None:
        self._mine(row.id)[row.id] = row  # a dict keeps the place of a key that it has

    async def add(self, row: Row) -> bool:
        if row.id in self._rows:
            return False
        await self.put(row)
        return True

    async def delete(self, id: str) -> None:
        if id in self._rows:
            del self._mine(id)[id]

    async def find(self, *, limit: int = 1000, newest: bool = False, **columns: str) -> Sequence[Row]:
        self._table.check(columns)
        found: list[Row] = []
        for row in reversed(self._rows.values()) if newest else self._rows.values():
            read = self._table.read(row) if columns else {}
            if all(read[name] == str(value) for name, value in columns.items()):
                found.append(row)
                if len(found) >= limit:
                    break
        return found
