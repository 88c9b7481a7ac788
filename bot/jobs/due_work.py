"""Due work: what a row is due for, by which column, and what is done then."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Generic

from alerts.store import Between, Row, table_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DueWork(Generic[Row]):
    """One kind of due work, an entry of `due_catalogue.py`.

    `column` of the row's table has the time from which a row is due, and is empty while there is nothing to do.
    `do` may run again after a crash, so a second run must do nothing more. It returns after how long to look again at
    a row that stays due; a change of the row comes earlier. `within`: how long after its time a row is still looked at.
    `after`: how long after what the column has a row is due, where a setting says so.
    """

    name: str
    row: type[Row]
    column: str
    do: Callable[[Any, datetime], Awaitable[timedelta | None]]
    within: timedelta | None = None
    after: timedelta = timedelta()

    @property
    def table(self) -> str:
        return table_of(self.row).name

    def until(self, moment: datetime, *, now: datetime) -> Between:
        """Return the range of the column that has every row that is due before this moment."""
        start = "0" if self.within is None else now - self.within - self.after
        return Between(start=start, end=moment - self.after)

    def time_of(self, row: Row) -> datetime:
        """Return the time from which a row in that range is due."""
        time: datetime = attrgetter(table_of(self.row).columns[self.column])(row)
        return time + self.after


def unanswered(
    name: str,
    row: type[Row],
    remind: Callable[[Any, datetime], Awaitable[timedelta | None]],
    *,
    every: timedelta,
) -> tuple[DueWork[Row], ...]:
    """Return the work of reminding of rows that nobody has acknowledged; none without a period."""
    work = DueWork(name=name, row=row, column="unanswered_since", do=remind, after=every)
    return (work,) if every else ()
