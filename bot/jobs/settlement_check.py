"""Check of reclaim requests past their grace: one that no plan and no due command settles is scheduled again."""

from datetime import datetime, timedelta

import structlog

from alerts.cards.channel_id import kind_and_name
from alerts.cards.text import plain
from alerts.store import Store, Unit
from bot.jobs.due_work import DueWork
from collectors.facts.clock import Clock
from collectors.facts.sentences import sentence
from commands.core.command import Answer
from commands.gpu.unanswered import lost_settlement, request_of
from commands.models import AuditEntry, DueCommand, ReclaimRequest

AGAIN = timedelta(seconds=30)  # a plan that settles it may fail

_log = structlog.get_logger()


class SettlementCheck:
    """Schedules lost settlements; the audit records the reason."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.work = DueWork(name="settlements", row=ReclaimRequest, column="settle_at", do=self._check)

    async def follow(self, unit: Unit, tried: DueCommand, answer: Answer | None) -> None:
        """Schedule the request again whose settlement was tried, if it is still open."""
        reclaim = await unit.rows(ReclaimRequest).get(request_of(tried))
        if reclaim is not None:
            reason = plain(answer.message.title) if answer else sentence("it was started and not finished")
            await self._reschedule(unit, reclaim, reason)

    async def _check(self, reclaim: ReclaimRequest, now: datetime) -> timedelta:
        async with self._store.unit() as unit:
            stored = await unit.rows(ReclaimRequest).get(reclaim.id)
            if stored is not None:
                await self._reschedule(
                    unit, stored, sentence("it is open and its settlement was not scheduled")
                )
        return AGAIN

    async def _reschedule(self, unit: Unit, reclaim: ReclaimRequest, reason: str) -> None:
        now = self._clock.now()
        due = await lost_settlement(reclaim, unit, now)
        if due is None:
            return
        await unit.rows(DueCommand).put(due)
        _log.warning("reclaim not settled", line=due.line, reason=reason, again_at=due.at.isoformat())
        entry = AuditEntry(
            id=f"{due.request}/put-off",
            cluster=due.cluster,
            at=now,
            actor=due.actor,
            actor_name=kind_and_name(due.actor)[1],
            line=due.line,
            what="failed",
            text=sentence("{reason}; the next attempt is at {at}", reason=reason, at=due.at),
        )
        await unit.rows(AuditEntry).add(entry)
