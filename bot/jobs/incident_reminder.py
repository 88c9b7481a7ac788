"""Reminders of critical incidents that nobody has acknowledged: each is repeated in its channels, once a period."""

from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from alerts.alert import Alert
from alerts.cards.headline import headline
from alerts.cards.message import Button
from alerts.cards.posted import CardKind, PostedCard, ThreadReply, reply_id
from alerts.cards.text import text
from alerts.incidents.events import with_reminder
from alerts.incidents.incident import Incident
from alerts.routing import CardRouting
from alerts.silences import Silence
from alerts.store import Between, Store, StoreSnapshot, Unit
from bot.jobs.card_replies import broadcast
from bot.jobs.due_work import DueWork, unanswered
from bot.jobs.muted_reminders import LOOK_AGAIN_AT_MUTES, muted_channels
from collectors.facts.sentences import listed, sentence
from commands.incident.card_context import active, silenced_until

MOST_ALONE = 3  # more that are due about now are one message
NAMED = 3

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class IncidentReminder:
    """Posts a reply into an incident's thread that the channel shows too. Whoever acknowledges it ends that.

    When it was repeated last is an event of the incident, so a restart repeats nothing, and another period counts from
    then. Without a period nothing is repeated.
    """

    store: Store
    _: KW_ONLY
    every: timedelta
    routing: CardRouting = field(default_factory=CardRouting)

    @property
    def works(self) -> tuple[DueWork[Incident], ...]:
        """What is due; nothing without a period."""
        return unanswered("incidents", Incident, self._remind, every=self.every)

    async def _remind(self, due: Incident, now: datetime) -> timedelta:
        """Remind of the incident as it is stored now, and of those with it that are due soon if they are many."""
        async with self.store.unit() as unit:
            incident = await unit.rows(Incident).get(due.id)
            since = incident.unanswered_since if incident is not None else None
            if incident is None or since is None or now < since + self.every:
                return self.every
            if (until := await _silenced_until(incident, unit, now)) is not None:
                return until - now
            muted = await muted_channels([incident], unit, self.routing, now)
            if muted is None:
                return LOOK_AGAIN_AT_MUTES
            cards = [one for one in await _cards(incident, unit) if one.channel not in muted]
            if not cards:
                return self.every
            together = [incident, *await self._due_soon(incident, unit, now)]
            if len(together) <= MOST_ALONE:
                together = [incident]
            reminded = [replace(one, events=with_reminder(one.events, now)) for one in together]
            for one in reminded:
                await unit.rows(Incident).put(one)
            if len(together) == 1:
                await broadcast(cards, reminded[0].events[-1].number, unit=unit, now=now)
            else:
                await self._repeat_all(together, muted, unit, now)
            _log.info("repeated", incidents=[one.id for one in together])
        return self.every

    async def _due_soon(self, incident: Incident, unit: Unit, now: datetime) -> list[Incident]:
        """Return the others of its channels that are due within a third of the period, and have a card there."""
        soon = Between(start="0", end=now - self.every + self.every / 3)
        found = await unit.rows(Incident).find(cluster=incident.cluster, unanswered_since=soon)
        return [
            one
            for one in found
            if one.id != incident.id
            and one.channels == incident.channels
            and await _cards(one, unit)
            and await _silenced_until(one, unit, now) is None
            and await muted_channels([one], unit, self.routing, now) is not None
        ]

    async def _repeat_all(
        self, incidents: Sequence[Incident], muted: Collection[str], unit: Unit, now: datetime
    ) -> None:
        """Add one reply about all of them under the card of the gravest."""
        ordered = sorted(incidents, key=lambda one: (-one.gravity, one.began_at))
        first = min(one.began_at for one in incidents)
        said = sentence(
            "Nobody has acknowledged {number} critical incidents, the first for {lasting}: {headlines}.",
            number=len(ordered),
            lasting=now - first,
            headlines=listed((headline(one) for one in ordered), ";", most=NAMED),
        )
        for card in (one for one in await _cards(ordered[0], unit) if one.channel not in muted):
            reply = ThreadReply(
                id=reply_id(card.id, f"reminder/{now:%Y%m%d%H%M%S}"),
                cluster=card.cluster,
                card=card.id,
                text=text(said),
                at=now,
                broadcast=True,
                buttons=(Button(label="List them", line="incident list"),),
            )
            await unit.rows(ThreadReply).add(reply)


async def _cards(incident: Incident, snapshot: StoreSnapshot) -> Sequence[PostedCard]:
    return await snapshot.rows(PostedCard).find(kind=CardKind.INCIDENT.value, row_id=incident.id)


async def _silenced_until(incident: Incident, snapshot: StoreSnapshot, now: datetime) -> datetime | None:
    silences = active(await snapshot.rows(Silence).find(cluster=incident.cluster), now)
    members = [member.alert for member in incident.members] if silences else []
    alerts = await snapshot.rows(Alert).get_all(members) if members else {}
    return silenced_until(incident, alerts, silences, now=now)
