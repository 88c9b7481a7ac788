"""The store: tables of rows, declared beside their row types, and transactions over them.

bot/store implements it with SQL.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any, Generic, Protocol, TypeVar

from collectors.facts.sentences import Sentence, sentence


class HasId(Protocol):
    @property
    def id(self) -> str: ...


Row = TypeVar("Row", bound=HasId)
Read = TypeVar("Read", bound=HasId, covariant=True)

Changed = Mapping[str, Mapping[str, Any]]  # table -> id -> the row that was put, None if it was deleted
Listener = Callable[[Changed], None]


class StoreError(Exception):
    """The store cannot be used: nothing of the transaction is stored.

    The text is one line with what, where and what to do, for people who run Yardmaster; never a password. `reason`
    says why to anybody else.
    """

    def __init__(self, text: str, reason: Sentence | None = None) -> None:
        super().__init__(text)
        self.reason = reason or sentence("its log says why")


class AppendOnlyError(Exception):
    """A row of a table that only grows was to be changed or deleted. Nothing of the transaction is stored."""

    def __init__(self, table: str, id: str) -> None:
        super().__init__(f"{table} only grows: its row {id} stays as it is")


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """A range for `find`: at least `start`, below `end`; None leaves that side open."""

    start: str | datetime | None = None
    end: str | datetime | None = None


Wanted = str | datetime | Between | Collection[str]  # equal to it, within it, or one of them


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDefinition(Generic[Row]):
    """A table.

    `columns`: the parameters of `find`, each indexed, and the attribute that each is read from. `over`: the
    time from which a row may be deleted, None for not yet. `goes_with`: a column, and the table whose ids it
    holds; rows are deleted with the row they name. `floats`: the measured values, which may be NaN or
    infinite. `in_plans`: whether a plan's Record step may write it. `names_last_plan`: the attribute `plan` of its rows
    is the plan that recorded them last. `append_only`: its rows are never changed or deleted, and the database refuses
    it too. `read_often`: a row is read many times as it is, so the store keeps those that it wrote or read lately.
    """

    name: str
    row: type[Row]
    columns: Mapping[str, str]
    over: Callable[[Row], datetime | None] | None = None
    goes_with: tuple[str, str] | None = None
    floats: Callable[[Row], Iterable[float]] = field(default=lambda _row: ())
    in_plans: bool = False
    names_last_plan: bool = False
    append_only: bool = False
    read_often: bool = False

    def __post_init__(self) -> None:
        if self.append_only and (self.over or self.goes_with or self.in_plans):
            raise ValueError(
                f"{self.name} is append-only: nothing may delete its rows, and no step may write them"
            )

    def read(self, row: Row) -> dict[str, str]:
        """Return the row's column values as text."""
        return {name: column_text(_getter(path)(row)) for name, path in self.columns.items()}

    def check(self, columns: Iterable[str]) -> None:
        """Raise ValueError for an unknown column. The id is one of each table."""
        if unknown := set(columns) - set(self.columns) - {"id"}:
            raise ValueError(
                f"{self.name} has no column {', '.join(sorted(unknown))}: use {', '.join(self.columns)}"
            )


TABLES: dict[str, TableDefinition[Any]] = {}  # all tables by name
_BY_ROW: dict[type[Any], TableDefinition[Any]] = {}


def stored(
    name: str,
    *columns: str,
    renamed: Mapping[str, str] | None = None,
    over: Callable[[Any], datetime | None] | None = None,
    goes_with: tuple[str, str] | None = None,
    floats: Callable[[Any], Iterable[float]] = lambda _row: (),
    in_plans: bool = False,
    names_last_plan: bool = False,
    append_only: bool = False,
    read_often: bool = False,
) -> Callable[[type[Row]], type[Row]]:
    """Declare the decorated class as the row type of a table; the parameters are the fields of TableDefinition.

    `renamed` has the columns that are not called like their attribute. The migration that creates the table
    is written by hand (bot/store/migrations), and a test compares the two.
    """

    def declare(row: type[Row]) -> type[Row]:
        if name in TABLES:
            raise ValueError(f"two row types have the table {name}")
        TABLES[name] = _BY_ROW[row] = TableDefinition(
            name=name,
            row=row,
            columns={**{column: column for column in columns}, **(renamed or {})},
            over=over,
            goes_with=goes_with,
            floats=floats,
            in_plans=in_plans,
            names_last_plan=names_last_plan,
            append_only=append_only,
            read_often=read_often,
        )
        return row

    return declare


def table_of(row: type[Row]) -> TableDefinition[Row]:
    """Return the table of a row type. Raises KeyError if it was not declared with `stored`."""
    return _BY_ROW[row]


_getter = lru_cache(maxsize=256)(attrgetter)  # a storm reads six columns of thousands of rows


def column_text(value: Any) -> str:
    """Return a value as column text. Times sort as text: UTC, always with microseconds."""
    if isinstance(value, datetime):
        return moment_text(value)
    return "" if value is None else str(value)


def moment_text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class RowsRead(Protocol[Read]):
    """All rows of one type, by `id`, to read."""

    async def get(self, id: str) -> Read | None: ...

    async def get_all(self, ids: Iterable[str]) -> Mapping[str, Read]:
        """Return the rows with these ids, by id."""
        ...

    async def find(
        self, *, limit: int | None = None, newest: bool = False, after: str = "", **columns: Wanted
    ) -> Sequence[Read]:
        """Return the rows whose columns are as wanted, in insertion order or the newest first.

        `limit` and `after` give a page: at most so many rows, that come after the row with this id.
        """
        ...


class Rows(RowsRead[Row], Protocol[Row]):
    """All rows of one type, to read and write. `put` replaces the whole row with the same id."""

    async def put(self, row: Row) -> None:
        """Insert or replace the row. In an append-only table, raises AppendOnlyError if its id is there."""
        ...

    async def add(self, row: Row) -> bool:
        """Insert the row if its id is new; return whether it was inserted."""
        ...

    async def delete(self, id: str) -> None:
        """Delete the row, if it is there. In an append-only table, raises AppendOnlyError."""
        ...


class StoreSnapshot(Protocol):
    """The rows as they were committed at one moment."""

    def rows(self, row: type[Row]) -> RowsRead[Row]:
        """Return the rows of this type."""
        ...


class Unit(Protocol):
    """One transaction: all of it is committed or nothing. Leaving it with an error rolls it back."""

    def rows(self, row: type[Row]) -> Rows[Row]:
        """Return the rows of this type."""
        ...

    async def next_number(self, of: str, count: int = 1) -> int:
        """Return 1, 2, 3, … for each name: incidents and plans have short numbers as ids.

        A higher `count` takes so many numbers, and returns the first. A unit that is rolled back takes none.
        """
        ...


class Store(Protocol):
    def unit(self) -> AbstractAsyncContextManager[Unit]:
        """Open a transaction. One at a time: keep it short, and do no other I/O in it. It raises StoreError."""
        ...

    def read(self) -> AbstractAsyncContextManager[StoreSnapshot]:
        """Open a snapshot. It neither waits for an open transaction nor delays one. It raises StoreError."""
        ...


class ObservedStore(Store, Protocol):
    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each commit with the changed rows. Return a function that removes it."""
        ...


@stored("progress", "cluster")
@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationProgress:
    """How far a cluster's rules were evaluated, so that the next process knows what it missed."""

    cluster: str
    evaluated: Mapping[str, datetime] = field(default_factory=dict)  # rule id -> its last evaluation

    @property
    def id(self) -> str:
        return self.cluster
