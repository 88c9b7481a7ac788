"""The in-memory store, equivalent to the SQL store."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from itertools import islice
from typing import Any, Generic

from alerts.store import (
    TABLES,
    AppendOnlyError,
    Between,
    Changed,
    Listener,
    Row,
    StoreSnapshot,
    TableDefinition,
    Unit,
    Wanted,
    column_text,
    table_of,
)
from bot.store.concurrency import ChangeSignal, WriteLock


class MemoryStore:
    """Stores the frozen rows themselves. Opening and committing yield to the event loop, as SQL does."""

    def __init__(self) -> None:
        self._stored: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        self._numbers: dict[str, int] = {}
        self._write_lock = WriteLock()
        self._changes = ChangeSignal()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each commit with the changed rows. Return a function that removes it."""
        return self._changes.listen(listener)

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Unit]:
        """Open a transaction: all of its changes are stored, or none."""
        async with self._write_lock.hold():
            await asyncio.sleep(0)
            transaction = _Transaction(self._stored, self._numbers)
            yield transaction
            await asyncio.sleep(0)
            transaction.commit()
            self._changes.publish(transaction.changed())
            await asyncio.sleep(0)

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[StoreSnapshot]:
        """Open a snapshot of what is committed."""
        await asyncio.sleep(0)
        yield _Transaction(defaultdict(dict, self._stored), self._numbers)

    async def prune(self, before: datetime) -> dict[str, int]:
        """Delete the rows that were over before then. Return the number of deleted rows per table."""
        deleted: dict[str, int] = {}
        async with self._write_lock.hold():
            for table in TABLES.values():
                rows = self._stored[table.name]
                over = table.over
                if over is not None:
                    old = [id for id, row in rows.items() if (at := over(row)) is not None and at < before]
                    self._delete(table.name, old, deleted)
        return deleted

    def _delete(self, name: str, ids: list[str], deleted: dict[str, int]) -> None:
        for id in ids:
            del self._stored[name][id]
        if ids:
            deleted[name] = deleted.get(name, 0) + len(ids)
        for other in TABLES.values():
            if other.goes_with is not None and other.goes_with[1] == name:
                column, parents = other.goes_with[0], set(ids)
                orphans = [
                    id for id, row in self._stored[other.name].items() if other.read(row)[column] in parents
                ]
                self._delete(other.name, orphans, deleted)

    async def close(self) -> None:
        """Do nothing: the rows stay, as in a file."""


class _Transaction:
    def __init__(self, stored: defaultdict[str, dict[str, Any]], numbers: dict[str, int]) -> None:
        self._stored = stored
        self._numbers = numbers
        self._new_numbers = dict(numbers)
        self._touched: dict[str, _Rows[Any]] = {}

    def rows(self, row: type[Row]) -> "_Rows[Row]":
        table = table_of(row)
        if table.name not in self._touched:
            self._touched[table.name] = _Rows(table, self._stored[table.name])
        return self._touched[table.name]

    async def next_number(self, of: str, count: int = 1) -> int:
        last = self._new_numbers[of] = self._new_numbers.get(of, 0) + count
        return last - count + 1

    def commit(self) -> None:
        self._numbers.update(self._new_numbers)
        for name, rows in self._touched.items():
            if rows.changed:
                self._stored[name] = rows.now()

    def changed(self) -> Changed:
        return {name: rows.changed for name, rows in self._touched.items() if rows.changed}


class _Rows(Generic[Row]):
    """A table within a unit: the stored rows, copied on the first change."""

    def __init__(self, table: TableDefinition[Row], stored: dict[str, Row]) -> None:
        self._table = table
        self._rows = stored
        self.changed: dict[str, Row | None] = {}  # by id; None for a deleted row

    def now(self) -> dict[str, Row]:
        return self._rows

    def _change(self, id: str, row: Row | None) -> None:
        if self._table.append_only and id in self._rows:
            raise AppendOnlyError(self._table.name, id)
        if not self.changed:
            self._rows = dict(self._rows)
        self.changed[id] = row
        if row is not None:
            self._rows[id] = row  # a dict preserves the position of an existing key
        else:
            del self._rows[id]

    async def get(self, id: str) -> Row | None:
        return self._rows.get(id)

    async def get_all(self, ids: Iterable[str]) -> Mapping[str, Row]:
        return {id: self._rows[id] for id in ids if id in self._rows}

    async def put(self, row: Row) -> None:
        self._change(row.id, row)

    async def add(self, row: Row) -> bool:
        if row.id in self._rows:
            return False
        await self.put(row)
        return True

    async def delete(self, id: str) -> None:
        if id in self._rows:
            self._change(id, None)

    async def find(
        self, *, limit: int | None = None, newest: bool = False, after: str = "", **columns: Wanted
    ) -> Sequence[Row]:
        self._table.check(columns)
        rows = list(reversed(self._rows.values()) if newest else self._rows.values())
        if after:
            ids = [row.id for row in rows]
            rows = rows[ids.index(after) + 1 :] if after in ids else []
        found = (row for row in rows if self._is_wanted(row, columns))
        return list(islice(found, limit))

    def _is_wanted(self, row: Row, columns: Mapping[str, Wanted]) -> bool:
        read = {"id": row.id, **self._table.read(row)} if columns else {}
        return all(_matches(read[name], wanted) for name, wanted in columns.items())


def _matches(value: str, wanted: Wanted) -> bool:
    match wanted:
        case Between():
            return (wanted.start is None or value >= column_text(wanted.start)) and (
                wanted.end is None or value < column_text(wanted.end)
            )
        case str() | datetime():
            return value == column_text(wanted)
        case _:
            return value in {column_text(one) for one in wanted}
