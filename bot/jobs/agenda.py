"""The agenda: runs each due command line as the automation that it belongs to."""

import asyncio
from datetime import timedelta

import structlog

from alerts.cards.channel_id import kind_and_name
from alerts.cards.text import moment_words, plain
from alerts.store import Changed, Store, Unit
from collectors.facts.clock import Clock
from commands.core.command import Answer, Handler
from commands.core.request import Actor, ActorKind, Request
from commands.gpu.unanswered import lost_settlements
from commands.models import AuditEntry, DueCommand
from commands.plans.plan import Origin

LONGEST_SLEEP = timedelta(seconds=30)  # the clock may be changed: the delay is at most this long

_log = structlog.get_logger()


class Agenda:
    """Runs what is due. A line is removed from the agenda after one attempt; its own request id makes it run once.
    A reclaim request that is still open afterwards is scheduled again."""

    def __init__(self, store: Store, clock: Clock, take: Handler) -> None:
        self._store = store
        self._clock = clock
        self._take = take
        self._changed = asyncio.Event()

    def wake(self, changed: Changed) -> None:
        """Listen to the store: wake up when the agenda has changed."""
        if "agenda" in changed:
            self._changed.set()

    async def run(self) -> None:
        """Run until cancelled: sleep until the next command is due."""
        while True:
            self._changed.clear()
            sleep = await self.run_due()
            try:
                async with asyncio.timeout(sleep.total_seconds()):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def run_due(self) -> timedelta:
        """Run what is due now. Return how long to sleep: not at all if something was run."""
        async with self._store.unit() as unit:
            await self._reschedule(unit)
            all_due = sorted(await unit.rows(DueCommand).find(), key=lambda one: one.at)
        now = self._clock.now()
        due = [one for one in all_due if one.at <= now]
        for one in due:
            await self._run_one(one)
        if due:
            return timedelta()
        return min(all_due[0].at - now, LONGEST_SLEEP) if all_due else LONGEST_SLEEP

    async def _run_one(self, due: DueCommand) -> None:
        name = kind_and_name(due.actor)[1]
        automation = Actor(id=name, name=name, kind=ActorKind.AUTOMATION, person=due.actor)
        request = Request(
            id=_request_id(due),
            line=due.line,
            actor=automation,
            at=self._clock.now(),
            origin=Origin(via="agenda"),
        )
        try:
            answer = await self._take(request)
        except Exception:  # one line's bug must not stop the others
            _log.exception("scheduled command failed", line=due.line)
            answer = None
        async with self._store.unit() as unit:
            stored = await unit.rows(DueCommand).get(due.id)
            if stored is not None and stored.at == due.at:
                await unit.rows(DueCommand).delete(due.id)
            await self._reschedule(unit, tried=due, answer=answer)

    async def _reschedule(
        self, unit: Unit, *, tried: DueCommand | None = None, answer: Answer | None = None
    ) -> None:
        """Schedule reclaim requests that are open and not on the agenda; the audit records the reason."""
        now = self._clock.now()
        for due in await lost_settlements(unit, now):
            await unit.rows(DueCommand).put(due)
            reason = "it is open and its settlement was not scheduled"
            if tried is not None and due.id == tried.id:
                reason = plain(answer.message.title) if answer else "it was started and not finished"
            _log.warning("reclaim not settled", line=due.line, reason=reason, again_at=due.at.isoformat())
            entry = AuditEntry(
                id=f"{_request_id(due)}/put-off",
                cluster=due.cluster,
                at=now,
                actor=due.actor,
                actor_name=kind_and_name(due.actor)[1],
                line=due.line,
                what="failed",
                text=f"{reason}; the next attempt is at {moment_words(due.at)}",
            )
            await unit.rows(AuditEntry).put(entry)


def _request_id(due: DueCommand) -> str:
    """Return the request id of a due command: a different one for each time at which it is due."""
    return f"due/{due.id}/{due.at.isoformat()}"
