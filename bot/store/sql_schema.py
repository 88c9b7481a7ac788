"""The SQL tables: one for each declared table, with its columns and indexes."""

from typing import Any

from sqlalchemy import Column, Index, Integer, MetaData, Text
from sqlalchemy import Table as SqlTable

from alerts.store import TABLES, TableDefinition

METADATA = MetaData()

NUMBERS = SqlTable(
    "numbers", METADATA, Column("name", Text, primary_key=True), Column("last", Integer, nullable=False)
)


def sql_table(name: str) -> SqlTable:
    """Return the SQL table of a declared table."""
    made = METADATA.tables.get(name)
    return _sql_table(TABLES[name]) if made is None else made


def _sql_table(table: TableDefinition[Any]) -> SqlTable:
    made = SqlTable(
        table.name,
        METADATA,
        Column("id", Text, primary_key=True),
        Column("seq", Integer, nullable=False),  # the order of first insertion
        *(Column(column, Text, nullable=False) for column in table.columns),
        Column("over_at", Text),  # the time from which the row may be deleted
        Column("document", Text, nullable=False),
    )
    for column in ("seq", "over_at", *table.columns):
        Index(f"{table.name}_by_{column}", made.c[column])
    return made
