"""Posting of incidents: which cards and replies a change calls for, stored in the unit that stores the change."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.cards.card_book import CardBook
from alerts.cards.desired_cards import desired_cards, desired_replies
from alerts.cards.posted import CardKind, PostedCard, ThreadReply
from alerts.incidents.incident import Incident
from alerts.incidents.incident_book import Effects, IncidentBook
from alerts.inhibition import InhibitingAlerts
from alerts.lifecycle import AlertState
from alerts.muting import Coverage, HeldBack, held_channels
from alerts.parents.parent_incident import ParentIncident
from alerts.routing import CardRouting
from alerts.silences import Silence
from alerts.store import Changed, Unit
from bot.cooperative import in_pieces
from commands.incident.card_context import active, silenced_until

AT_ONCE = 100  # incidents, until others may run
LOOKED_AT_EVERY = timedelta(seconds=5)  # those that are held back and have not changed


class IncidentPosting:
    """The cards and replies of one cluster's incidents. It follows the store, after the incident book has."""

    def __init__(
        self, cluster: str, cards: CardBook, routing: CardRouting, inhibiting: InhibitingAlerts
    ) -> None:
        self._cluster = cluster
        self._cards = cards
        self._routing = routing
        self._inhibiting = inhibiting
        self._behind: dict[str, None] = {}  # ids of incidents with cards, whose replies were held back
        self._looked: tuple[str, ...] = ()  # ids of those held back that this unit looks at
        self._looked_at: datetime | None = None

    @classmethod
    async def load(
        cls,
        cluster: str,
        book: IncidentBook,
        unit: Unit,
        incidents: Sequence[str],
        *,
        routing: CardRouting,
    ) -> "IncidentPosting":
        """Return the posting for these incidents of the book, with what is stored."""
        firing = (
            await unit.rows(Alert).find(cluster=cluster, state=AlertState.FIRING)
            if routing.inhibit_rules
            else ()
        )
        cards = await unit.rows(PostedCard).find(row_id=incidents, kind=CardKind.INCIDENT)
        silences = await unit.rows(Silence).find(cluster=cluster)
        return cls(
            cluster,
            CardBook(cluster, book, cards=cards, silences=silences),
            routing,
            InhibitingAlerts(routing.inhibit_rules, firing),
        )

    def follow(self, changed: Changed) -> None:
        """Take over committed rows."""
        self._cards.apply(changed)
        if changed.get("silences"):
            self._looked_at = None  # one may have ended
        for id, alert in changed.get("alerts", {}).items() if self._routing.inhibit_rules else ():
            if alert is None:
                self._inhibiting.remove(id)
            elif alert.cluster == self._cluster:
                self._inhibiting.put(alert)

    def forget(self, incidents: Sequence[str], now: datetime) -> None:
        """Drop what belongs to incidents that the book forgot."""
        self._cards.forget(incidents, now)
        for id in incidents:
            self._behind.pop(id, None)

    @property
    def lacking(self) -> Iterable[str]:
        """The ids of the incidents that were held back: the open ones that lack a card, and those that lack replies."""
        return (*self._cards.lacking, *self._behind)

    @property
    def lacking_cards(self) -> Iterable[str]:
        """The ids of the open incidents without a card that this unit looks at: they were silenced when they began."""
        without = frozenset(self._cards.lacking)
        return tuple(id for id in self._looked if id in without)

    async def held(
        self, unit: Unit, effects: Effects, now: datetime, newer: Collection[Alert] = ()
    ) -> HeldBack:
        """Return what notifies nobody now of the changed incidents, and now and then of those held back before.

        `newer`: alerts as they are in this unit, which may inhibit others.
        """
        self._looked = self._to_look_at(now)
        incidents = [incident for incident, _ in self._cards.wanted(effects, self._looked)]
        silenced = await self._silenced(unit, incidents, now)
        if not self._routing.may_mute:
            return HeldBack(incidents=frozenset(silenced))
        rules = self._routing.inhibit_rules
        coverage = Coverage(
            routing=self._routing,
            silences=tuple(active(self._cards.silences.values(), now)),
            inhibiting=self._inhibiting,
            newer=InhibitingAlerts(rules, newer if rules else ()),
        )
        asked = [one for one in incidents if one.id not in silenced and self._is_asked(one)]
        members = [member.alert for one in asked for member in one.firing or one.members]
        alerts = await unit.rows(Alert).get_all(members) if members else {}
        channels: dict[str, frozenset[str]] = {}
        async for one in in_pieces(asked, AT_ONCE):
            found = (alerts.get(member.alert) for member in one.firing or one.members)
            notifications = [coverage.of(alert, now) for alert in found if alert is not None]
            held = held_channels(notifications, one.channels) if notifications else frozenset()
            if held is None:
                silenced.add(one.id)
            elif held:
                channels[one.id] = held
        return HeldBack(incidents=frozenset(silenced), channels=channels)

    async def post(
        self,
        unit: Unit,
        effects: Effects,
        now: datetime,
        *,
        held: HeldBack,
        parents: Sequence[ParentIncident] = (),
    ) -> None:
        """Store the cards and replies of the changed incidents and parents, but for what is held back."""
        await self._expire_silences(unit, (*effects.incidents, *parents), now)
        wanted = self._cards.wanted(effects, self._looked)
        replies: list[ThreadReply] = []
        caught_up: dict[str, set[str]] = {}  # incidents whose replies were held back -> ids of all replies
        async for incident, cards in in_pieces(wanted, AT_ONCE):
            quiet = held.channels.get(incident.id, frozenset())
            known = self._cards.cards_of(incident.id)
            if known and (
                incident.id in held.incidents or any(one.channel in quiet for one in known.values())
            ):
                self._behind[incident.id] = None
            elif incident.id in self._behind:
                caught_up[incident.id] = set()
            if incident.id in held.incidents:
                continue
            notified = [card for card in cards if card.channel not in quiet]
            for card in notified:
                await unit.rows(PostedCard).put(card)
            posted = {**known, **{card.id: card for card in notified}}
            of_incident = desired_replies(
                incident, tuple(card for card in posted.values() if card.channel not in quiet)
            )
            if incident.id in caught_up:
                caught_up[incident.id] = {one.id for one in of_incident}
            replies += of_incident
        replies += await self._of_parents(unit, parents, now)
        already = await unit.rows(ThreadReply).get_all(reply.id for reply in replies) if replies else {}
        for reply in replies:
            if reply.id not in already:
                await unit.rows(ThreadReply).put(reply)
        for id in [id for id, ids in caught_up.items() if ids <= already.keys()]:
            self._behind.pop(id, None)  # once they are stored: this unit may fail

    def _to_look_at(self, now: datetime) -> tuple[str, ...]:
        """Return those held back that are looked at now. There may be thousands all night, and a batch each second."""
        lacking = (*self._cards.lacking, *self._behind)
        if not lacking or (self._looked_at and abs(now - self._looked_at) < LOOKED_AT_EVERY):
            return ()
        self._looked_at = now
        return lacking

    async def _of_parents(
        self, unit: Unit, parents: Sequence[ParentIncident], now: datetime
    ) -> list[ThreadReply]:
        """Store the cards of the parents that changed, and return their replies."""
        ids = [parent.id for parent in parents]
        found = await unit.rows(PostedCard).find(kind=CardKind.PARENT.value, row_id=ids) if ids else ()
        replies: list[ThreadReply] = []
        for parent in parents:
            posted = {card.id: card for card in found if card.row_id == parent.id}
            after = parent.events[-1 if posted else 0].number
            cards = desired_cards(parent, posted, after=after)
            for card in cards:
                await unit.rows(PostedCard).put(card)
            silences = active(self._cards.silences.values(), now)
            if not parent.is_open or not any(one.covers_incident(parent, now) for one in silences):
                posted |= {card.id: card for card in cards}
                replies += desired_replies(parent, tuple(posted.values()))
        return replies

    async def _expire_silences(
        self, unit: Unit, incidents: Iterable[Incident | ParentIncident], now: datetime
    ) -> None:
        """End the silences that last until an incident is over."""
        over = {incident.id for incident in incidents if not incident.is_open}
        for silence in list(self._cards.silences.values()) if over else ():
            if silence.is_until_over and silence.incident in over and silence.is_active(now):
                await unit.rows(Silence).put(replace(silence, expired_at=now))

    async def _silenced(self, unit: Unit, incidents: Sequence[Incident], now: datetime) -> set[str]:
        """Return the ids of those that are silenced. One with a card shows its end, silenced or not."""
        silences = active(self._cards.silences.values(), now)
        asked = [one for one in incidents if self._is_asked(one)] if silences else []
        members = [member.alert for incident in asked for member in incident.members]
        alerts = await unit.rows(Alert).get_all(members) if members else {}
        return {one.id for one in asked if silenced_until(one, alerts, silences, now=now) is not None}

    def _is_asked(self, incident: Incident) -> bool:
        """Whether it may be held back: one with a card shows its end, whatever covers it."""
        return _fires(incident) or not self._cards.cards_of(incident.id)


def _fires(incident: Incident) -> bool:
    return any(member.is_firing for member in incident.members)
