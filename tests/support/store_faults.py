"""Faults of an SQLite store under a bot that runs: full, read-only, locked by another process, and removed."""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from sqlalchemy import Connection, Engine, event


class StoreFault(ABC):
    """A fault of the store in a file, which is there between `begin` and `end`. `reason`: what people read of it."""

    reason: ClassVar[str]
    is_whole: ClassVar[bool] = True  # nothing at all can be stored

    def __init__(self, file: Path) -> None:
        self._file = file

    @abstractmethod
    def begin(self) -> None: ...

    @abstractmethod
    def end(self) -> None: ...


class _OfConnections(StoreFault):
    """SQLite's own fault: each transaction that begins has it until it is over."""

    begins: ClassVar[str]
    ends: ClassVar[str]
    _is_there = False

    def begin(self) -> None:
        self._is_there = True

    def end(self) -> None:
        self._is_there = False

    def apply(self, connection: Connection) -> None:
        connection.exec_driver_sql(self.begins if self._is_there else self.ends)


class Full(_OfConnections):
    """What fits into the pages that there are is stored."""

    reason = "the disk of its store is full"
    is_whole = False
    begins, ends = (
        "PRAGMA max_page_count = 1",
        "PRAGMA max_page_count = 1073741823",
    )  # as many pages as it has


class ReadOnly(_OfConnections):
    reason = "its store is read-only"
    begins, ends = "PRAGMA query_only = 1", "PRAGMA query_only = 0"


class Locked(StoreFault):
    """Another process is in a transaction. The test shortens how long SQLite waits for it."""

    reason = "another process has locked its store"

    def begin(self) -> None:
        self._other = sqlite3.connect(self._file, isolation_level=None, timeout=60)
        self._other.execute("BEGIN IMMEDIATE")

    def end(self) -> None:
        self._other.close()


class Removed(StoreFault):
    reason = "the file of its store is gone"

    def begin(self) -> None:
        self._file.rename(self._file.with_name("away"))

    def end(self) -> None:
        self._file.with_name("away").rename(self._file)


FAULTS: dict[str, type[StoreFault]] = {
    "full": Full,
    "read-only": ReadOnly,
    "locked": Locked,
    "removed": Removed,
}


@contextmanager
def fault_of(name: str, file: Path) -> Iterator[StoreFault]:
    """Return the fault, which is not there yet."""
    fault = FAULTS[name](file)
    if isinstance(fault, _OfConnections):
        event.listen(Engine, "begin", fault.apply)
    try:
        yield fault
    finally:
        if isinstance(fault, _OfConnections):
            event.remove(Engine, "begin", fault.apply)
