"""This file keeps the agenda: a command line that is due is put on the road, as the robot that it belongs to."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from collectors.facts.clock import Clock
from collectors.facts.people import Actor, ActorKind
from commands.plans import Origin
from commands.requests import Request
from commands.rows import Due
from commands.stores import Store

LONGEST_SLEEP = timedelta(seconds=30)  # the clock may be set; nothing is overslept for longer

Take = Callable[[Request], Awaitable[object]]


class Agenda:
    """Runs what is due. A line is taken off the agenda with the gesture's own id, so that it runs once."""

    def __init__(self, store: Store, clock: Clock, take: Take) -> None:
        self._store = store
        self._clock = clock
        self._take = take
        self._stirred = asyncio.Event()

    def stir(self, changed: Mapping[str, frozenset[str]]) -> None:
        """A listener of the store: the agenda has changed."""
        if "agenda" in changed:
            self._stirred.set()

    async def run(self) -> None:
        """For ever: sleep until the earliest is due."""
        while True:
            self._stirred.clear()
            due, sleep = await self._look()
            for one in due:
                await self._run_one(one)
            if due:
                continue
            try:
                async with asyncio.timeout(sleep.total_seconds()):
                    await self._stirred.wait()
            except TimeoutError:
                continue

    async def _look(self) -> tuple[list[Due], timedelta]:
        async with self._store.unit() as unit:
            all_due = sorted(await unit.agenda.find(limit=10_000), key=lambda one: one.at)
        now = self._clock.now()
        due = [one for one in all_due if one.at <= now]
        later = next((one.at - now for one in all_due if one.at > now), LONGEST_SLEEP)
        return due, min(later, LONGEST_SLEEP)

    async def _run_one(self, due: Due) -> None:
        robot = Actor(id=due.actor, name=due.actor, kind=ActorKind.ROBOT)
        id = f"due/{due.id}/{due.at.isoformat()}"
        await self._take(
            Request(id=id, line=due.line, actor=robot, at=self._clock.now(), origin=Origin(via="agenda"))
        )
        async with self._store.unit() as unit:
            kept = await unit.agenda.get(due.id)
            if kept is not None and kept.at == due.at:
                await unit.agenda.delete(due.id)


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
