"""Faults of the store's disk, as SQLite reports them: each transaction that begins meanwhile has the fault."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, event

FAULTS = {  # what each connection sets, and what ends it
    "full": ("PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1073741823"),  # as many pages as it has
    "read-only": ("PRAGMA query_only = 1", "PRAGMA query_only = 0"),
}


class Fault:
    """One of them. It may come and go."""

    def __init__(self, name: str) -> None:
        self._begins, self._ends = FAULTS[name]
        self.is_there = False

    def apply(self, connection: Connection) -> None:
        connection.exec_driver_sql(self._begins if self.is_there else self._ends)


@contextmanager
def fault_of(name: str) -> Iterator[Fault]:
    fault = Fault(name)
    event.listen(Engine, "begin", fault.apply)
    try:
        yield fault
    finally:
        event.remove(Engine, "begin", fault.apply)
