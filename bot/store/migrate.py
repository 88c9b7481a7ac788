"""Migrations: brings a schema up to date, and refuses one that is newer than this program."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.store.dialects import prepare


class StoreError(Exception):
    """The store cannot be opened. The text is one line with what, where and what to do; never a password."""


class NewerSchemaError(StoreError):
    """The database was migrated by a newer program. Nothing was changed."""


MIGRATIONS = Path(__file__).parent / "migrations"


async def migrate(engine: AsyncEngine) -> None:
    """Run the missing migrations in one transaction, which also locks out other processes.

    Raises NewerSchemaError, and the database's own errors.
    """
    await prepare(engine)
    async with engine.begin() as connection:
        await connection.run_sync(_migrate)


def _migrate(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    script = ScriptDirectory.from_config(config)
    known = {revision.revision for revision in script.walk_revisions()}
    current = MigrationContext.configure(connection).get_current_heads()
    if unknown := [revision for revision in current if revision not in known]:
        raise NewerSchemaError(
            f"the store's schema is {', '.join(unknown)}, newer than this program's "
            f"{script.get_current_head()}: run the newer Yardmaster, or restore the backup made before it ran"
        )
    if set(current) != {script.get_current_head()}:
        command.upgrade(config, "head")
