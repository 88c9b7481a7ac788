"""The check of a store's file: whether it is whole, of this program's schema, and every row of it can be read."""

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
from alembic.script import ScriptDirectory

from alerts.store import TABLES
from bot.store.documents import decode
from bot.store.migrate import scripts

SHOWN = 20  # of the rows and the faults of one kind


def problems_of(file: Path, *, rows: bool = True) -> list[str]:
    """Return what is wrong with the file; nothing if it can be used. It may be open in another process.

    Without `rows` it is not looked at whether each row can be read. Raises OSError if there is no such file.
    """
    file.stat()
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            found = [str(one) for (one,) in connection.execute(f"PRAGMA integrity_check({SHOWN})")]
            problems = [f"it is damaged: {one}" for one in found if one != "ok"]
            problems += _of_schema(connection, scripts())
            if rows and not problems:
                problems = _of_rows(connection)
    except sqlite3.Error as error:
        return [f"it cannot be read: {error}"]
    return problems


def _of_schema(connection: sqlite3.Connection, known: ScriptDirectory) -> list[str]:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    revisions = []
    if "alembic_version" in tables:
        revisions = [str(one) for (one,) in connection.execute("SELECT version_num FROM alembic_version")]
    if not revisions:
        return ["it has no schema version: it is half migrated, or no store of Yardmaster"]
    head = known.get_current_head()
    if unknown := set(revisions) - {one.revision for one in known.walk_revisions()}:
        return [f"its schema is {', '.join(unknown)}, newer than this program's {head}"]
    if revisions == [head] and (missing := sorted(set(TABLES) - tables)):
        return [f"it is half migrated: its schema is {head}, but it has no table {', '.join(missing)}"]
    return []


def _of_rows(connection: sqlite3.Connection) -> list[str]:
    """Return the rows that cannot be decoded. An older schema's rows are those of another program."""
    (revision,) = connection.execute("SELECT max(version_num) FROM alembic_version").fetchone()
    if revision != scripts().get_current_head():
        return []
    problems = []
    for name, table in sorted(TABLES.items()):
        bad = []
        for id, document in connection.execute(f"SELECT id, document FROM {name}"):
            try:
                decode(table, document)
            except (ValueError, msgspec.MsgspecError):
                bad.append(str(id))
        if bad:
            more = f" and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
            problems.append(f"rows of {name} cannot be read: {', '.join(bad[:SHOWN])}{more}")
    return problems
