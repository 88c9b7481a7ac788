"""The port of a store back end: all that differs by the database that holds a store."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

from sqlalchemy import ColumnElement, Engine, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncEngine

from collectors.facts.sentences import Sentence, sentence

BUSY = timedelta(seconds=10)  # how long to wait for another process's transaction
READERS = 4  # snapshots at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A file beside the store's. `engine` is for one thread at a time, and writes one transaction at a time."""

    backend: "Backend"
    file: Path
    engine: Engine


@dataclass(frozen=True, slots=True)
class Backend(ABC):
    """The back end of one store. Nothing else knows which database it is."""

    url: str  # as `store.url` says it

    scheme: ClassVar[str]  # of its URLs, up to the driver: `sqlite`
    example: ClassVar[str]  # of a URL, with the driver: `sqlite+aiosqlite:////path/yard.db`
    errors: ClassVar[tuple[type[Exception], ...]] = ()  # of the database, besides SQLAlchemy's

    @abstractmethod
    def check(self) -> None:
        """Raise ValueError if the URL is one of this back end that cannot hold a store."""

    @property
    @abstractmethod
    def file(self) -> Path | None:
        """The SQLite file that is the store, or None: the database is a server's, or something else.

        A file is held by one process, looked after, and copied before it is migrated; the commands `store` work on it.
        """

    def beside(self, suffix: str) -> "Beside | None":
        """Return a database in a file beside this one's, whose name has the suffix; None if there is no file."""
        return None

    @abstractmethod
    def engine(self, *, reads: bool = False) -> AsyncEngine:
        """Return an engine with one write transaction at a time, or with `reads` one for snapshots."""

    @abstractmethod
    async def prepare(self) -> None:
        """Set what the database stores permanently, before it is migrated."""

    @abstractmethod
    def insert_into(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        """Return an INSERT that supports ON CONFLICT."""

    @abstractmethod
    def one_of(self, column: ColumnElement[str], values: Iterable[str]) -> ColumnElement[bool]:
        """Return the condition that the column has one of these values: one parameter, however many they are."""

    @property
    @abstractmethod
    def where(self) -> str:
        """Where the store is, for people: without a password."""

    @abstractmethod
    def advice(self, cause: BaseException) -> str:
        """Return what to do about an error of it."""

    def reason(self, cause: BaseException) -> Sentence:
        """Return why it cannot be used, for people who do not run it."""
        return sentence("its log says why")
