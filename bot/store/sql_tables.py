"""This file makes SQL tables from the table of tables."""

from sqlalchemy import Column, Index, Integer, MetaData, Text
from sqlalchemy import Table as SqlTable

from bot.store.schema import TABLES

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
