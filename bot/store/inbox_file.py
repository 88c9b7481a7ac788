"""The inbox file: bodies that were accepted and whose effects are not stored yet, in a file beside the store.

The store has one writer, and a unit that records a storm takes seconds. What is appended here waits for no unit.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlalchemy import Column, Connection, Integer, LargeBinary, MetaData, Table, delete, insert, select

from alerts.kept_bodies import Numbered
from bot.store.backends.backend import Beside
from bot.store.backends.backend_catalogue import DATABASE_ERRORS, backend_of
from bot.store.concurrency import uninterrupted
from bot.store.store_errors import as_store_errors, unusable
from bot.store.store_file import StoreFile

SUFFIX = ".inbox"

_METADATA = MetaData()
_BODIES = Table(
    "bodies",
    _METADATA,
    Column("number", Integer, primary_key=True),
    Column("body", LargeBinary, nullable=False),
)

T = TypeVar("T")


class InboxFile:
    """Numbered bodies, in the order of their numbers. One process has it open: the one that holds the store.

    Each call is one in a thread: beside a storm, every return to the event loop waits for its turn.
    """

    def __init__(self, beside: Beside) -> None:
        self._backend = beside.backend
        self._engine = beside.engine
        self._file = StoreFile(beside.file, None)
        self._lock = asyncio.Lock()

    @classmethod
    async def open(cls, url: str) -> "InboxFile | None":
        """Open the inbox of the store with this URL; None if the store is not a file, and nothing can be beside it.

        Raises StoreError if it cannot be opened.
        """
        beside = backend_of(url).beside(SUFFIX)
        if beside is None:
            return None

        def create() -> None:
            with beside.engine.begin() as connection:
                _METADATA.create_all(connection)

        try:
            await uninterrupted(beside.backend.prepare())
            await uninterrupted(asyncio.to_thread(create))
        except BaseException as error:
            beside.engine.dispose()
            if isinstance(error, DATABASE_ERRORS):
                raise unusable(beside.backend, "cannot be opened", error) from error
            raise
        return cls(beside)

    async def append(self, bodies: Sequence[Numbered]) -> None:
        """Store the bodies, all or none. Raises StoreError."""
        rows = [{"number": number, "body": body} for number, body in bodies]
        await self._write(lambda connection: connection.execute(insert(_BODIES), rows))

    async def read(self) -> Sequence[Numbered]:
        """Return all that is there. Raises StoreError."""
        query = select(_BODIES.c.number, _BODIES.c.body).order_by(_BODIES.c.number)

        def read(connection: Connection) -> list[Numbered]:
            return [(number, body) for number, body in connection.execute(query)]

        return await self._in_thread("cannot be read", read)

    async def drop(self, last: int) -> None:
        """Delete the bodies up to this number. Raises StoreError."""
        await self._write(
            lambda connection: connection.execute(delete(_BODIES).where(_BODIES.c.number <= last))
        )

    async def _write(self, change: Callable[[Connection], object]) -> None:
        def checked(connection: Connection) -> None:
            self._file.check()
            change(connection)
            self._file.check()

        await self._in_thread("cannot be written", checked)

    async def _in_thread(self, what: str, work: Callable[[Connection], T]) -> T:
        def run() -> T:
            with as_store_errors(self._backend, what), self._engine.begin() as connection:
                return work(connection)

        async with self._lock:
            return await uninterrupted(asyncio.to_thread(run))

    async def close(self) -> None:
        self._engine.dispose()
