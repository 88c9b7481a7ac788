"""Rewriting of stored rows by migrations: in batches, with progress in the log, and the name of a row that fails.

Released migrations use it, so what it does for them stays as it is, and it imports nothing of the program.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import structlog
from alembic import op
from sqlalchemy import Column, Connection, Integer, Text, bindparam, column, func, inspect, select
from sqlalchemy import table as table_clause

BATCH = 500  # rows in memory
LOGGED_EVERY = 5_000  # rows
_WRITTEN = ("id", "over_at", "document")  # with `seq`, the columns of every table
_FIXED = frozenset({"seq", *_WRITTEN})
_NEW = tuple(f"new_{name}" for name in _WRITTEN)

_log = structlog.get_logger()


class RowError(Exception):
    """A row cannot be migrated. The text says which table, which row, and why."""

    def __init__(self, table: str, id: str, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        super().__init__(f"the row {id} of the table {table} cannot be migrated: {reason}")
        self.table, self.id = table, id


@dataclass(slots=True)
class StoredRow:
    """A row as it is stored: `columns` are those it is looked up by, `document` is its JSON."""

    id: str
    columns: dict[str, str]
    document: dict[str, Any]
    over_at: str | None = None  # the time from which it may be deleted


def rewrite(table: str, change: Callable[[StoredRow], None]) -> None:
    """Let `change` alter each row of the table in place, and store those that it altered.

    It sees the rows in the order of their first insertion. Its id, columns and document are three things: whoever
    changes a field that has a column changes both. Raises RowError with the row that `change` failed for, or that
    cannot be stored, such as one that takes the id of another.
    """
    connection = op.get_bind()
    clause, names = _clause(connection, table)
    total = connection.execute(select(func.count()).select_from(clause)).scalar_one()
    done = 0
    for found in _batches(connection, clause):
        changed: list[dict[str, Any]] = []
        for id, over_at, document, *values in found:
            try:
                row = StoredRow(id, dict(zip(names, values, strict=True)), json.loads(document), over_at)
                change(row)
                text = _text(row.document)
                now = (row.id, row.over_at, text, *(row.columns[name] for name in names))
            except Exception as error:
                raise RowError(table, id, error) from error
            if now != (id, over_at, document, *values):
                changed.append(dict(zip(("old_id", *_NEW, *map(_new, names)), (id, *now), strict=True)))
            done += 1
            if done % LOGGED_EVERY == 0 or done == total:
                _log.info("store is being migrated", table=table, rows=done, of=total)
        _execute(connection, table, _update(clause, names), changed, id_of="old_id")


def add_rows(table: str, rows: Iterable[StoredRow]) -> None:
    """Insert rows after those that the table has. Raises RowError with the row that cannot be stored."""
    connection = op.get_bind()
    clause, names = _clause(connection, table)
    last = connection.execute(select(func.coalesce(func.max(clause.c.seq), 0))).scalar_one()
    insert = clause.insert().values(
        {"seq": bindparam("new_seq"), **{name: bindparam(_new(name)) for name in (*_WRITTEN, *names)}}
    )
    numbered = enumerate(rows, last + 1)
    while batch := list(islice(numbered, BATCH)):
        values: list[dict[str, Any]] = [
            dict(
                zip(
                    ("new_seq", *_NEW, *map(_new, names)),
                    (
                        number,
                        row.id,
                        row.over_at,
                        _text(row.document),
                        *(row.columns[name] for name in names),
                    ),
                    strict=True,
                )
            )
            for number, row in batch
        ]
        _execute(connection, table, insert, values, id_of="new_id")


def create_table(name: str, *columns: str) -> None:
    """Create a table of rows with these columns to look up by."""
    op.create_table(
        name,
        Column("id", Text, primary_key=True),
        Column("seq", Integer, nullable=False),
        *(Column(each, Text, nullable=False) for each in columns),
        Column("over_at", Text),
        Column("document", Text, nullable=False),
    )
    for each in ("seq", "over_at", *columns):
        op.create_index(f"{name}_by_{each}", name, [each])


def refuse_changes(table: str) -> None:
    """Let the database refuse to change or delete a row of the table, whoever asks.

    A later migration that rewrites it drops these triggers first, and calls this again.
    """
    connection = op.get_bind()
    for statement in REFUSING[connection.dialect.name](table):
        connection.exec_driver_sql(statement)


def _refusing_of_sqlite(table: str) -> Iterator[str]:
    """SQLite replaces a row without an UPDATE or a DELETE, by its id or its rowid."""
    is_there = f"WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id OR rowid = NEW.rowid)"
    for event, when in (("UPDATE", ""), ("DELETE", ""), ("INSERT", is_there)):
        yield (
            f"CREATE TRIGGER {table}_refuses_{event.lower()} BEFORE {event} ON {table} {when} "
            f"BEGIN SELECT RAISE(ABORT, '{table} only grows'); END"
        )


def _refusing_of_postgresql(table: str) -> Iterator[str]:
    yield (
        f"CREATE FUNCTION {table}_only_grows() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{table} only grows'; END $$"
    )
    for event, each in (("UPDATE", "ROW"), ("DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
        yield (
            f"CREATE TRIGGER {table}_refuses_{event.lower()} BEFORE {event} ON {table} "
            f"FOR EACH {each} EXECUTE FUNCTION {table}_only_grows()"
        )


# By SQLAlchemy's name of the database: the statements after which a table only grows.
REFUSING: dict[str, Callable[[str], Iterator[str]]] = {
    "sqlite": _refusing_of_sqlite,
    "postgresql": _refusing_of_postgresql,
}


def _execute(
    connection: Connection, table: str, statement: Any, rows: list[dict[str, Any]], *, id_of: str
) -> None:
    """Write the rows together, as each statement costs more than its row; one by one to find the one that fails."""
    if not rows:
        return
    try:
        with connection.begin_nested():
            connection.execute(statement, rows)
    except Exception:
        for row in rows:
            try:
                connection.execute(statement, row)
            except Exception as error:
                raise RowError(table, row[id_of], error) from error
        raise


def _update(clause: Any, names: Iterable[str]) -> Any:
    values: dict[str, Any] = {name: bindparam(_new(name)) for name in (*_WRITTEN, *names)}
    return clause.update().where(clause.c.id == bindparam("old_id")).values(values)


def _new(name: str) -> str:
    """Return the parameter for a column's new value."""
    return f"new_{name}"


def _clause(connection: Connection, table: str) -> tuple[Any, tuple[str, ...]]:
    """Return the table, and the names of its columns beside those that every table has."""
    known = [str(each["name"]) for each in inspect(connection).get_columns(table)]
    names = tuple(name for name in known if name not in _FIXED)
    return table_clause(table, *(column(name) for name in known)), names


def _batches(connection: Connection, clause: Any) -> Iterator[list[Any]]:
    """Yield the rows that the table has now, in the order of `seq`, so many of its numbers at a time."""
    names = [each.name for each in clause.columns if each.name not in _FIXED]
    wanted = [clause.c.id, clause.c.over_at, clause.c.document, *(clause.c[name] for name in names)]
    last = connection.execute(select(func.max(clause.c.seq))).scalar_one()
    first = connection.execute(select(func.min(clause.c.seq))).scalar_one()
    while first is not None and first <= last:
        within = clause.c.seq.between(first, min(first + BATCH - 1, last))
        yield list(connection.execute(select(*wanted).where(within).order_by(clause.c.seq)))
        after = select(func.min(clause.c.seq)).where(clause.c.seq >= first + BATCH)
        first = connection.execute(after).scalar_one()


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
