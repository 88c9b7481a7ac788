"""This file forgets what is old, a few times a day: the calendar only says when."""

import asyncio
from datetime import timedelta

import structlog

from bot.agenda import Calendar
from bot.store.sql import SqlStore
from collectors.facts.clock import Clock

KEEP_FOR = timedelta(days=90)
EVERY_HOURS = 6

_log = structlog.get_logger()


class Retention:
    """Prunes the store. What is open, and the audit, stays."""

    def __init__(self, store: SqlStore, clock: Clock, *, timezone: str) -> None:
        self._store = store
        self._clock = clock
        self._timezone = timezone

    async def run(self) -> None:
        """For ever."""
        due = asyncio.Event()
        calendar = Calendar(self._timezone)
        calendar.every(EVERY_HOURS, due.set, name="housekeeping")
        calendar.start()
        try:
            while True:
                await due.wait()
                due.clear()
                forgotten = await self._store.prune(self._clock.now() - KEEP_FOR)
                _log.info("old rows forgotten", **{str(name): count for name, count in forgotten.items()})
        finally:
            calendar.stop()
