"""Migrations: brings a schema up to date, and refuses one that is newer than this program."""

import asyncio
import sqlite3
from pathlib import Path

import structlog
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncEngine

from alerts.store import StoreError
from bot.store.backends.backend import Backend
from bot.store.file_copy import copy_store, earlier_copies
from bot.store.migrations.rewriting import RowError
from collectors.facts.clock import Clock, SystemClock

_log = structlog.get_logger()


class NewerSchemaError(StoreError):
    """The database was migrated by a newer program. Nothing was changed."""


class MigrationError(StoreError):
    """The database could not be migrated. Nothing was changed: the earlier program still opens it."""


MIGRATIONS = Path(__file__).parent / "migrations"


async def migrate(backend: Backend, engine: AsyncEngine, clock: Clock | None = None) -> None:
    """Run the missing migrations in one transaction, which also locks out other processes.

    Before the file of a store is migrated it is copied, and the copy is kept beside it. Raises NewerSchemaError,
    MigrationError, and the database's own errors.
    """
    await backend.prepare()
    async with engine.begin() as connection:
        current = await connection.run_sync(_outdated_revision)
        if current is None:
            return
        file = backend.file if current else None
        copy = await _copied(file, current, clock or SystemClock()) if file else None
        try:
            await connection.run_sync(_upgrade)
        except RowError as error:
            if file and copy:
                copy = await asyncio.to_thread(_one_copy, file, current, copy)
            kept = f", or the copy {copy}" if copy else ""
            raise MigrationError(
                f"{error}: nothing was changed, and the earlier Yardmaster still opens the store{kept}"
            ) from error


def _outdated_revision(connection: Connection) -> str | None:
    """Return the revision that has to be migrated, empty for a new database; None for a current one."""
    script = ScriptDirectory.from_config(_config(connection))
    known = {revision.revision for revision in script.walk_revisions()}
    current = MigrationContext.configure(connection).get_current_heads()
    if unknown := [revision for revision in current if revision not in known]:
        raise NewerSchemaError(
            f"the store's schema is {', '.join(unknown)}, newer than this program's "
            f"{script.get_current_head()}: run the newer Yardmaster, or put the copy in place "
            "that was kept beside the store before it ran"
        )
    return None if set(current) == {script.get_current_head()} else ",".join(current)


def _upgrade(connection: Connection) -> None:
    command.upgrade(_config(connection), "head")


def scripts() -> ScriptDirectory:
    """Return the migrations that this program knows."""
    return ScriptDirectory.from_config(_config(None))


def _config(connection: Connection | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


async def _copied(file: Path, revision: str, clock: Clock) -> Path:
    """Copy the store, which this process has locked for writing, as it is before the migration."""
    try:
        copy = await asyncio.to_thread(copy_store, file, revision=revision, now=clock.now())
    except (sqlite3.Error, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise MigrationError(
            f"the store {file} cannot be copied before it is migrated: {reason}: make room for a second file of its "
            "size beside it, and see that the directory is writable; nothing was changed"
        ) from error
    _log.info("store copied before it is migrated", copy=str(copy), revision=revision)
    return copy


def _one_copy(file: Path, revision: str, copy: Path) -> Path:
    """Return a copy of what could not be migrated: each start tries again, so only the first copy is kept."""
    if earlier := earlier_copies(file, revision=revision, but=copy):
        copy.unlink()
        return earlier[0]
    return copy
