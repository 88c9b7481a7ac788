"""Due commands: runs each command line at its time as the automation that it belongs to."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import structlog

from alerts.cards.channel_id import kind_and_name
from alerts.store import Store, Unit
from bot.jobs.due_work import DueWork
from collectors.facts.clock import Clock
from commands.core.command import Answer, Handler
from commands.core.request import Actor, ActorKind, Request
from commands.execution.plan import Origin
from commands.models import DueCommand

_log = structlog.get_logger()

Follow = Callable[
    [Unit, DueCommand, Answer | None], Awaitable[None]
]  # what else changes once a line was tried


async def _nothing(_unit: Unit, _due: DueCommand, _answer: Answer | None) -> None:
    return None


class DueCommands:
    """Runs due lines. Each is removed from the agenda after one attempt; its own request id makes it run once."""

    def __init__(self, store: Store, clock: Clock, take: Handler, *, follow: Follow = _nothing) -> None:
        self._store = store
        self._clock = clock
        self._take = take
        self._follow = follow
        self.work = DueWork(name="commands", row=DueCommand, column="at", do=self._run)

    async def _run(self, due: DueCommand, now: datetime) -> timedelta | None:
        name = kind_and_name(due.actor)[1]
        automation = Actor(id=name, name=name, kind=ActorKind.AUTOMATION, person=due.actor)
        origin = Origin(via="agenda", channel=due.channel)
        request = Request(id=due.request, line=due.line, actor=automation, at=now, origin=origin)
        try:
            answer = await self._take(request)
        except Exception:  # what follows must know that it was tried
            _log.exception("scheduled command failed", line=due.line)
            answer = None
        async with self._store.unit() as unit:
            stored = await unit.rows(DueCommand).get(due.id)
            if stored is not None and stored.at == due.at:
                await unit.rows(DueCommand).delete(due.id)
            await self._follow(unit, due, answer)
        return None
