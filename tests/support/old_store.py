"""Stores as an earlier release left them, by the migrations themselves."""

import sqlite3
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from bot.store.backends.backend_catalogue import backend_of
from bot.store.migrate import MIGRATIONS


async def empty_store(path: Path, revision: str) -> None:
    """Make a SQLite store without rows, with the schema of the revision."""

    def upgrade(connection: Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        command.upgrade(config, revision)

    backend = backend_of(f"sqlite+aiosqlite:///{path}")
    engine = backend.engine()
    await backend.prepare()
    async with engine.begin() as connection:
        await connection.run_sync(upgrade)
    await engine.dispose()


async def take_back(path: Path, revision: str) -> None:
    """Remove from a store of today what migrations after the revision have added. Rows and their documents stay."""
    before = path.with_name(f"{path.name}.{revision}")
    await empty_store(before, revision)
    with sqlite3.connect(before) as was:
        wanted = _schema(was)
    was.close()
    with sqlite3.connect(path) as store:
        there = _schema(store)
        assert wanted.keys() <= there.keys(), "a later migration removes something"
        for kind, name in sorted(there.keys() - wanted.keys(), key=lambda one: one[0] == "table"):
            store.execute(f"DROP {kind} {name}")
        for (_, name), columns in wanted.items():
            for column in there["table", name] - columns if columns else ():
                store.execute(f"ALTER TABLE {name} DROP COLUMN {column}")
        store.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    store.close()


def _schema(store: sqlite3.Connection) -> dict[tuple[str, str], frozenset[str]]:
    """Return the tables with their columns, and the indexes and triggers that migrations made."""
    made = "SELECT type, name FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
    found = store.execute(made).fetchall()
    columns = "SELECT name FROM pragma_table_info(?)"
    return {
        (kind, name): frozenset(row[0] for row in store.execute(columns, (name,)))
        if kind == "table"
        else frozenset()
        for kind, name in found
    }
