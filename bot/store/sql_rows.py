"""A table's rows in an open SQL transaction. Writes are buffered and sent together."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Generic

import msgspec
from sqlalchemy import ColumnElement, Dialect, Table, bindparam, delete, func, literal_column, select
from sqlalchemy.ext.asyncio import AsyncConnection

from alerts.store import AppendOnlyError, Between, Row, TableDefinition, Wanted, column_text, moment_text
from bot.store.backends.backend import Backend
from bot.store.concurrency import uninterrupted
from bot.store.documents import Documents
from bot.store.sql_schema import sql_table
from collectors.internal_errors import InternalErrors

SENT_AT_ONCE = 500  # rows in one call of the driver
AT_ONCE = 100  # rows encoded or decoded before others may run: a few milliseconds


class SqlRows(Generic[Row]):
    """The rows of a table. `get` and `find` see buffered writes; `flush` sends them at the latest.

    What `get` and `get_all` found, and what was written, is known until the transaction ends: nobody else changes it.
    """

    def __init__(
        self,
        table: TableDefinition[Row],
        backend: Backend,
        connection: AsyncConnection,
        errors: InternalErrors,
        documents: Documents,
    ) -> None:
        self._table = table
        self._documents = documents
        self._backend = backend
        self._errors = errors
        self._sql = sql_table(table.name)
        self._connection = connection
        self._put: dict[str, Row] = {}
        self._deleted: dict[str, None] = {}
        self._known: dict[str, Row | None] = {}  # by id; None for a row that is not there
        self.changed: dict[str, Row | None] = {}  # by id; None for a deleted row

    async def get(self, id: str) -> Row | None:
        if id not in self._known:
            query = select(self._sql.c.document).where(self._sql.c.id == id)
            found = await uninterrupted(self._connection.execute(query))
            document = found.scalar_one_or_none()
            self._known[id] = None if document is None else self._documents.decode(self._table, document)
        return self._known[id]

    async def get_all(self, ids: Iterable[str]) -> Mapping[str, Row]:
        wanted = list(dict.fromkeys(ids))
        if unknown := [id for id in wanted if id not in self._known]:
            query = select(self._sql.c.id, self._sql.c.document).where(self._one_of("id", unknown))
            found = list(await uninterrupted(self._connection.execute(query)))
            self._known |= dict.fromkeys(set(unknown).difference(id for id, _ in found))
            self._known |= await self._decoded(found)
        rows = ((id, self._known.get(id)) for id in wanted)
        return {id: row for id, row in rows if row is not None}

    async def put(self, row: Row) -> None:
        if self._table.append_only and await self.get(row.id) is not None:
            raise AppendOnlyError(self._table.name, row.id)
        self._set(row)

    def _set(self, row: Row) -> None:
        self._put[row.id] = self._known[row.id] = self.changed[row.id] = row

    async def add(self, row: Row) -> bool:
        if await self.get(row.id) is not None:
            return False
        self._set(row)
        return True

    async def delete(self, id: str) -> None:
        if await self.get(id) is None:
            return
        if self._table.append_only:
            raise AppendOnlyError(self._table.name, id)
        self._put.pop(id, None)
        self._deleted[id] = self._known[id] = self.changed[id] = None

    async def find(
        self, *, limit: int | None = None, newest: bool = False, after: str = "", **columns: Wanted
    ) -> Sequence[Row]:
        """Skip a row that cannot be decoded, and report it: one bad row must not hide the others."""
        self._table.check(columns)
        await self.flush()
        seq, id = self._sql.c.seq, self._sql.c.id
        order = (seq.desc(), id.desc()) if newest else (seq, id)
        query = (
            select(id, self._sql.c.document).where(*self._conditions(columns)).order_by(*order).limit(limit)
        )
        if after:
            last = select(seq).where(id == after).scalar_subquery()
            query = query.where(seq < last if newest else seq > last)
        found = await uninterrupted(self._connection.execute(query))
        return [row for _, row in await self._decoded(found)]

    async def _decoded(self, found: Iterable[Any]) -> list[tuple[str, Row]]:
        rows: list[tuple[str, Row]] = []
        for number, (id, document) in enumerate(found, 1):
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
            try:
                rows.append((id, self._documents.decode(self._table, document)))
            except (ValueError, msgspec.MsgspecError) as error:
                self._errors.contain(error, "row", table=self._table.name, id=id)
        return rows

    def _conditions(self, columns: Mapping[str, Wanted]) -> Iterator[ColumnElement[bool]]:
        for name, wanted in columns.items():
            column = self._sql.c[name]
            match wanted:
                case Between():
                    if wanted.start is not None:
                        yield column >= column_text(wanted.start)
                    if wanted.end is not None:
                        yield column < column_text(wanted.end)
                case str() | datetime():
                    yield column == column_text(wanted)
                case _:
                    yield self._one_of(name, map(column_text, wanted))

    def _one_of(self, column: str, values: Iterable[str]) -> ColumnElement[bool]:
        return self._backend.one_of(self._sql.c[column], values)

    async def flush(self) -> None:
        """Send the buffered writes. A row that was deleted and put again is new: it goes last."""
        if self._deleted or self._put:
            await uninterrupted(self._flush())

    async def _flush(self) -> None:
        if self._deleted:
            ids = [{"old": id} for id in self._deleted]
            await self._connection.execute(delete(self._sql).where(self._sql.c.id == bindparam("old")), ids)
            self._deleted.clear()
        sql, names = _upsert(self._backend, self._sql, self._connection.dialect)
        values: list[tuple[str | None, ...]] = []
        for number, row in enumerate(self._put.values(), 1):
            of_row = self._values(row)
            values.append(tuple(of_row[name] for name in names))
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
            if len(values) == SENT_AT_ONCE or number == len(self._put):
                await self._connection.exec_driver_sql(sql, values)
                values = []
        self._put.clear()

    def _values(self, row: Row) -> dict[str, Any]:
        over_at = self._table.over(row) if self._table.over is not None else None
        return {
            "id": row.id,
            "over_at": None if over_at is None else moment_text(over_at),
            "document": self._documents.encode(self._table, row),
            **self._table.read(row),
        }


@lru_cache(maxsize=256)  # tables of a few stores
def _upsert(backend: Backend, sql: Table, dialect: Dialect) -> tuple[str, Sequence[str]]:
    """Return the statement that inserts or replaces a row, and the names of its parameters in their order.

    It is compiled here and sent to the driver as it is: a storm writes thousands of rows, and SQLAlchemy would
    prepare the parameters of each.
    """
    last = select(
        func.coalesce(func.max(sql.c.seq), literal_column("0")) + literal_column("1")
    ).scalar_subquery()
    names = [column.name for column in sql.columns if column.name != "seq"]
    values: dict[str, Any] = {name: bindparam(name) for name in names}
    statement = backend.insert_into(sql).values(**values, seq=last)
    updates = {name: statement.excluded[name] for name in names if name != "id"}
    upsert = statement.on_conflict_do_update(index_elements=["id"], set_=updates)
    compiled = upsert.compile(dialect=dialect)
    return str(compiled), compiled.positiontup or ()
