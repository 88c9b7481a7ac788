"""This file forgets what is old, a few times a day: the calendar only says when."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from bot.store.sql_store import SqlStore
from collectors.facts.clock import Clock

KEEP_FOR = timedelta(days=90)
EVERY_HOURS = 6

_log = structlog.get_logger()


class Calendar:
    """Ticks at moments of the calendar. It only puts work on somebody's queue: it cannot wait for its own jobs."""

    def __init__(self, timezone: str) -> None:
        self._scheduler = AsyncIOScheduler(timezone=timezone)

    def every(self, hours: int, tick: Callable[[], None], *, name: str) -> None:
        self._scheduler.add_job(tick, "interval", hours=hours, id=name, coalesce=True, max_instances=1)

    def start(self) -> None:
        self._scheduler.start()

    def stop(self) -> None:
        self._scheduler.shutdown(wait=False)


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
