"""Reminders of critical parent incidents that nobody has acknowledged, as of incidents: once a period.

The parent is one row, however many members it has, so a reminder of a storm is as short a transaction as any.
"""

from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta

from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.events import with_reminder
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.routing import CardRouting
from alerts.rules import Severity
from alerts.silences import Silence
from alerts.store import Store
from bot.jobs.card_replies import broadcast
from bot.jobs.due_work import DueWork, unanswered
from bot.jobs.muted_reminders import LOOK_AGAIN_AT_MUTES, muted_channels
from commands.core.parent_members import members_of


@dataclass(frozen=True, slots=True)
class ParentReminder:
    """Posts a reply into the parent's thread that the channel shows too; its members are not repeated."""

    store: Store
    _: KW_ONLY
    every: timedelta
    routing: CardRouting = field(default_factory=CardRouting)

    @property
    def works(self) -> tuple[DueWork[ParentIncident], ...]:
        """What is due; nothing without a period."""
        return unanswered("parents", ParentIncident, self._remind, every=self.every)

    async def _remind(self, due: ParentIncident, now: datetime) -> timedelta:
        """Remind of the parent as it is stored now."""
        async with self.store.unit() as unit:
            parent = await unit.rows(ParentIncident).get(due.id)
            since = parent.unanswered_since if parent is not None else None
            if parent is None or since is None or now < since + self.every:
                return self.every
            silences = await unit.rows(Silence).find(cluster=parent.cluster)
            if ends := [one.ends_at for one in silences if one.covers_incident(parent, now)]:
                return max(ends) - now
            waiting = [one for one in await members_of(parent, unit) if _waits_for_somebody(one)]
            if not waiting:
                return self.every
            muted = await muted_channels(waiting, unit, self.routing, now)
            if muted is None:
                return LOOK_AGAIN_AT_MUTES
            found = await unit.rows(PostedCard).find(kind=CardKind.PARENT.value, row_id=parent.id)
            cards = [one for one in found if one.channel not in muted]
            if not cards:
                return LOOK_AGAIN_AT_MUTES
            reminded = replace(parent, events=with_reminder(parent.events, now))
            await unit.rows(ParentIncident).put(reminded)
            await broadcast(cards, reminded.events[-1].number, unit=unit, now=now)
        return self.every


def _waits_for_somebody(member: Incident) -> bool:
    """Whether nobody has a critical member: people may acknowledge them one by one."""
    return member.is_open and not member.acknowledged_by and member.severity is Severity.CRITICAL
