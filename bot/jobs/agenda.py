"""The agenda: does each row's due work when its time has come."""

import asyncio
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from alerts.store import Changed, Store
from bot.event_waits import set_within
from bot.jobs.due_work import DueWork
from collectors.facts.clock import Clock
from collectors.internal_errors import InternalErrors

LONGEST_SLEEP = timedelta(seconds=30)  # the clock may step: the delay is at most this long
RETRY_AFTER = timedelta(seconds=30)  # of work that failed

_Key = tuple[str, str, str, datetime]  # table, column, row, the time from which it is due


@dataclass(eq=False, slots=True)
class Agenda:
    """Does what is due, in the order of its times. It reads the rows that are due now or before its next turn.

    A row that stays due is left alone until it changes, or until its work wants to see it again.
    """

    store: Store
    clock: Clock
    works: Sequence[DueWork[Any]]
    _: KW_ONLY
    errors: InternalErrors = field(default_factory=InternalErrors)
    # Rows that stay due -> when they are looked at again.
    _seen: dict[_Key, timedelta] = field(default_factory=dict, init=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def wake(self, changed: Changed) -> None:
        """Listen to the store: wake up when a table with due work has changed."""
        if changed.keys().isdisjoint(work.table for work in self.works):
            return
        self._seen = {
            key: until for key, until in self._seen.items() if key[2] not in changed.get(key[0], ())
        }
        self._changed.set()

    async def run(self) -> None:
        """Run until cancelled: sleep until something is due next."""
        while True:
            self._changed.clear()
            sleep = await self.run_due()
            await set_within(self._changed, sleep.total_seconds())

    async def run_due(self) -> timedelta:
        """Do what is due now. Return how long to sleep: not at all if something was done."""
        now = self.clock.now()
        found = await self._found(now)
        keys = {key for key, *_ in found}
        due = [(key, work, row) for key, work, row in found if key[3] <= now and not self._is_held(key)]
        self._seen = {key: until for key, until in self._seen.items() if key in keys}
        for key, work, row in due:
            self._seen[key] = timedelta.max
            again = await self._do(work, row)
            if key in self._seen:  # else it has changed meanwhile
                self._seen[key] = self.clock.elapsed() + (again if again is not None else RETRY_AFTER)
        if due:
            return timedelta()
        pauses = [
            self._seen[key] - self.clock.elapsed() if key in self._seen else key[3] - now for key, *_ in found
        ]
        return min([*pauses, LONGEST_SLEEP])

    async def _found(self, now: datetime) -> list[tuple[_Key, DueWork[Any], Any]]:
        """Return the rows that are due before the longest sleep is over, by their times."""
        found: list[tuple[_Key, DueWork[Any], Any]] = []
        async with self.store.read() as snapshot:
            for work in self.works:
                wanted: dict[str, Any] = {work.column: work.until(now + LONGEST_SLEEP, now=now)}
                found += [
                    ((work.table, work.column, row.id, work.time_of(row)), work, row)
                    for row in await snapshot.rows(work.row).find(**wanted)
                ]
        return sorted(found, key=lambda one: one[0][3])

    def _is_held(self, key: _Key) -> bool:
        return key in self._seen and self._seen[key] > self.clock.elapsed()

    async def _do(self, work: DueWork[Any], row: Any) -> timedelta | None:
        try:
            return await work.do(row, self.clock.now())
        except Exception as error:  # one row's bug must not stop the others
            self.errors.contain(error, "agenda", work=work.name, id=row.id)
            return RETRY_AFTER
