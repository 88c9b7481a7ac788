"""Retention: deletes old rows a few times a day."""

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
    """Calls functions on a schedule. They must only signal work: the scheduler cannot wait for its jobs."""

    def __init__(self, timezone: str) -> None:
        self._scheduler = AsyncIOScheduler(timezone=timezone)

    def every(self, hours: int, tick: Callable[[], None], *, name: str) -> None:
        self._scheduler.add_job(tick, "interval", hours=hours, id=name, coalesce=True, max_instances=1)

    def start(self) -> None:
        self._scheduler.start()

    def stop(self) -> None:
        self._scheduler.shutdown(wait=False)


class Retention:
    """Prunes the store. Open rows and the audit stay."""

    def __init__(self, store: SqlStore, clock: Clock, *, timezone: str) -> None:
        self._store = store
        self._clock = clock
        self._timezone = timezone

    async def run(self) -> None:
        """Run until cancelled."""
        due = asyncio.Event()
        calendar = Calendar(self._timezone)
        calendar.every(EVERY_HOURS, due.set, name="retention")
        calendar.start()
        try:
            while True:
                await due.wait()
                due.clear()
                pruned = await self._store.prune(self._clock.now() - KEEP_FOR)
                _log.info("old rows deleted", **{str(name): count for name, count in pruned.items()})
        finally:
            calendar.stop()
