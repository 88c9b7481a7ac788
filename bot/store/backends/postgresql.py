"""PostgreSQL: the store is a database of a server. Its statements are tested; it is not supported yet."""

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from sqlalchemy import ColumnElement, Connection, Table, Text, any_, event, literal
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bot.store.backends.backend import READERS, Backend

WRITER = 7_263_101  # the advisory lock of the writer; an arbitrary number that must never change


class Postgresql(Backend):
    """A store in a database of PostgreSQL."""

    scheme: ClassVar[str] = "postgresql"
    example: ClassVar[str] = "postgresql+asyncpg://user@host/yard"

    def check(self) -> None:
        """Take any URL: the server says what is wrong with it."""

    @property
    def file(self) -> Path | None:
        return None

    def engine(self, *, reads: bool = False) -> AsyncEngine:
        size = READERS if reads else 2
        engine = create_async_engine(self.url, pool_size=size, max_overflow=0, pool_pre_ping=True)
        event.listen(engine.sync_engine, "begin", _begin_read if reads else _begin)
        return engine

    async def prepare(self) -> None:
        """Set nothing: a server is set up by who runs it."""

    def insert_into(self, table: Table) -> postgresql.Insert:
        return postgresql.insert(table)

    def one_of(self, column: ColumnElement[str], values: Iterable[str]) -> ColumnElement[bool]:
        return column == any_(literal(list(values), postgresql.ARRAY(Text)))

    @property
    def where(self) -> str:
        return make_url(self.url).render_as_string(hide_password=True)

    def advice(self, cause: BaseException) -> str:
        return "check that the server runs and accepts the login, or correct store.url"


def _begin_read(connection: Connection) -> None:
    connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITER})")
