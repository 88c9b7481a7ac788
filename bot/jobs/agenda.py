"""This file keeps the agenda: a command line that is due is put on the road, as the robot that it belongs to."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

import structlog

from alerts.cards.message import plain
from collectors.facts.clock import Clock
from commands.core.command import Answer
from commands.core.request import Actor, ActorKind, Request
from commands.gpu.unanswered import lost_settlements
from commands.models import AuditEntry, DueCommand
from commands.plans.plan import Origin
from commands.store import Store, Unit

LONGEST_SLEEP = timedelta(seconds=30)  # the clock may be set; nothing is overslept for longer

Take = Callable[[Request], Awaitable[Answer | None]]

_log = structlog.get_logger()


class Agenda:
    """Runs what is due. A line is taken off the agenda once it was tried, under a gesture's id of its own, so that
    it runs once; a claim that is open all the same comes back on it."""

    def __init__(self, store: Store, clock: Clock, take: Take) -> None:
        self._store = store
        self._clock = clock
        self._take = take
        self._stirred = asyncio.Event()

    def wake(self, changed: Mapping[str, frozenset[str]]) -> None:
        """A listener of the store: the agenda has changed."""
        if "agenda" in changed:
            self._stirred.set()

    async def run(self) -> None:
        """For ever: sleep until the earliest is due."""
        while True:
            self._stirred.clear()
            sleep = await self.look()
            try:
                async with asyncio.timeout(sleep.total_seconds()):
                    await self._stirred.wait()
            except TimeoutError:
                continue

    async def look(self) -> timedelta:
        """Run what is due now. Tells how long to sleep after it: not at all if anything was run."""
        async with self._store.unit() as unit:
            await self._bring_back(unit)
            all_due = sorted(await unit.agenda.find(limit=10_000), key=lambda one: one.at)
        now = self._clock.now()
        due = [one for one in all_due if one.at <= now]
        for one in due:
            await self._run_one(one)
        if due:
            return timedelta()
        return min(all_due[0].at - now, LONGEST_SLEEP) if all_due else LONGEST_SLEEP

    async def _run_one(self, due: DueCommand) -> None:
        automation = Actor(id=due.actor, name=due.actor, kind=ActorKind.AUTOMATION)
        request = Request(
            id=_request_id(due),
            line=due.line,
            actor=automation,
            at=self._clock.now(),
            origin=Origin(via="agenda"),
        )
        try:
            answer = await self._take(request)
        except Exception:  # one line's bug must not end the agenda, or the others would wait for ever
            _log.exception("a line of the agenda failed", line=due.line)
            answer = None
        async with self._store.unit() as unit:
            kept = await unit.agenda.get(due.id)
            if kept is not None and kept.at == due.at:
                await unit.agenda.delete(due.id)
            await self._bring_back(unit, tried=due, answer=answer)

    async def _bring_back(
        self, unit: Unit, *, tried: DueCommand | None = None, answer: Answer | None = None
    ) -> None:
        """Put the claims back on the agenda that are open and not on it; in the audit stands why, where it is late."""
        now = self._clock.now()
        for due in await lost_settlements(unit, now):
            await unit.agenda.put(due)
            reason = "it is open and nothing was to settle it"
            if tried is not None and due.id == tried.id:
                reason = plain(answer.message.title) if answer else "it was begun and not finished"
            _log.warning("a claim is not settled", line=due.line, reason=reason, again_at=due.at.isoformat())
            entry = AuditEntry(
                id=f"{_request_id(due)}/put-off",
                cluster=due.cluster,
                at=now,
                actor=due.actor,
                actor_name=due.actor,
                line=due.line,
                what="failed",
                text=f"{reason}; it is tried again at {due.at:%H:%M} UTC",
            )
            await unit.audit.put(entry)


def _request_id(due: DueCommand) -> str:
    """The id under which a line on the agenda is taken: another one for each moment at which it was due."""
    return f"due/{due.id}/{due.at.isoformat()}"
