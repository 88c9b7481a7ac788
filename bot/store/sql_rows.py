"""This file has a table's rows in an open SQL transaction. Writes are gathered and sent together."""

from collections.abc import Sequence
from typing import Any, Generic

from sqlalchemy import Column, Index, Integer, MetaData, Text, bindparam, delete, func, select
from sqlalchemy import Table as SqlTable
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.dialects import insert_into
from bot.store.documents import decode, encode
from bot.store.schema import TABLES, Row, TableDefinition, moment_text

METADATA = MetaData()


def _made(name: str, columns: tuple[str, ...]) -> SqlTable:
    table = SqlTable(
        name,
        METADATA,
        Column("id", Text, primary_key=True),
        Column("seq", Integer, nullable=False),  # the order of the first put
        *(Column(column, Text, nullable=False) for column in columns),
        Column("over_at", Text),  # from when on the row may be forgotten
        Column("document", Text, nullable=False),
    )
    for column in ("seq", "over_at", *columns):
        Index(f"{name}_by_{column}", table.c[column])
    return table


SQL_TABLES = {table.name: _made(table.name, tuple(table.columns)) for table in TABLES}

NUMBERS = SqlTable(
    "numbers", METADATA, Column("name", Text, primary_key=True), Column("last", Integer, nullable=False)
)


class SqlRows(Generic[Row]):
    """Rows of one type. What was put is seen by `get` and `find` at once, and sent at the latest by `flush`."""

    def __init__(self, table: TableDefinition[Row], connection: AsyncConnection) -> None:
        self._table = table
        self._sql = SQL_TABLES[table.name]
        self._connection = connection
        self._put: dict[str, Row] = {}
        self._deleted: dict[str, None] = {}
        self.changed: set[str] = set()

    async def get(self, id: str) -> Row | None:
        if id in self._put:
            return self._put[id]
        if id in self._deleted:
            return None
        found = await self._connection.execute(select(self._sql.c.document).where(self._sql.c.id == id))
        document = found.scalar_one_or_none()
        return None if document is None else decode(self._table, document)

    async def put(self, row: Row) -> None:
        self._put[row.id] = row
        self.changed.add(row.id)

    async def add(self, row: Row) -> bool:
        if await self.get(row.id) is not None:
            return False
        await self.put(row)
        return True

    async def delete(self, id: str) -> None:
        if await self.get(id) is None:
            return
        self._put.pop(id, None)
        self._deleted[id] = None
        self.changed.add(id)

    async def find(self, *, limit: int = 1000, newest: bool = False, **columns: str) -> Sequence[Row]:
        self._table.check(columns)
        await self.flush()
        seq, id = self._sql.c.seq, self._sql.c.id
        order = (seq.desc(), id.desc()) if newest else (seq, id)
        query = select(self._sql.c.document).order_by(*order).limit(limit)
        for name, value in columns.items():
            query = query.where(self._sql.c[name] == str(value))
        found = await self._connection.execute(query)
        return [decode(self._table, document) for document in found.scalars()]

    async def flush(self) -> None:
        """Send what is gathered. A row that was deleted and put again is a new one: it goes last."""
        if self._deleted:
            ids = [{"gone": id} for id in self._deleted]
            await self._connection.execute(delete(self._sql).where(self._sql.c.id == bindparam("gone")), ids)
            self._deleted.clear()
        if self._put:
            await self._connection.execute(self._upsert(), [self._written(row) for row in self._put.values()])
            self._put.clear()

    def _written(self, row: Row) -> dict[str, Any]:
        over = self._table.over(row) if self._table.over is not None else None
        return {
            "id": row.id,
            "over_at": None if over is None else moment_text(over),
            "document": encode(self._table, row),
            **self._table.read(row),
        }

    def _upsert(self) -> Any:
        last = select(func.coalesce(func.max(self._sql.c.seq), 0) + 1).scalar_subquery()
        names = [column.name for column in self._sql.columns if column.name != "seq"]
        values: dict[str, Any] = {name: bindparam(name) for name in names}
        statement = insert_into(self._sql, self._connection.dialect.name).values(**values, seq=last)
        renewed = {name: statement.excluded[name] for name in names if name != "id"}
        return statement.on_conflict_do_update(index_elements=["id"], set_=renewed)
