"""The incident book: a cluster's live incidents in memory, and what a cycle's alerts change in them. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.cards.desired import desired_cards
from alerts.cards.posted import CardId, CardKind, PostedCard
from alerts.incidents.crashes import Crashes, joins_crash, may_be_crash, with_crash
from alerts.incidents.group_keys import group_keys_of
from alerts.incidents.grouping import GroupingContext, add_alert, belongs, open_incident, resolve_if_over
from alerts.incidents.impacts import with_failures
from alerts.incidents.incident import Incident
from alerts.incidents.proofs import with_proofs
from alerts.lifecycle import AlertState
from alerts.rules import Severity
from alerts.silences import Silence
from alerts.store import Changed

REMEMBERED_FOR = timedelta(hours=1)  # what ended: the next incident of its object names it, or it is reopened

Update = tuple[Alert, datetime]  # an alert that fired, still fires or resolved, and when


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What a cycle changes. `before` has the known incidents as they were stored; opened ones are in `opened` only.

    The ids of opened incidents are provisional until `numbered`.
    """

    before: Mapping[str, Incident]
    changed: Mapping[str, Incident]
    opened: tuple[Incident, ...]

    def numbered(self, ids: Iterable[str]) -> "Effects":
        """Return the effects with these ids for the opened incidents."""
        named = (replace(incident, id=id) for incident, id in zip(self.opened, ids, strict=True))
        return replace(self, opened=tuple(named))

    @property
    def incidents(self) -> Iterator[Incident]:
        """The incidents to store."""
        yield from self.changed.values()
        yield from self.opened


class IncidentBook:
    """The open incidents of a cluster and those that ended not long ago, their cards, and the silences.

    It follows the store through `apply`, also for what it proposed itself: `absorb` changes nothing.
    """

    def __init__(
        self,
        cluster: str,
        *,
        incidents: Iterable[Incident] = (),
        cards: Iterable[PostedCard] = (),
        silences: Iterable[Silence] = (),
        remembered_for: timedelta = REMEMBERED_FOR,
    ) -> None:
        self._remembered_for = remembered_for
        self._cluster = cluster
        self._incidents: dict[str, Incident] = {}
        self._by_group: dict[str, dict[str, None]] = {}  # group key -> ids, oldest first
        self._by_alert: dict[str, str] = {}  # Alert.id -> id of its open incident
        self._cards: dict[str, dict[CardId, PostedCard]] = {}  # by incident
        self.silences: dict[str, Silence] = {}
        for incident in incidents:
            self._put(incident)
        for card in cards:
            self._cards.setdefault(card.row_id, {})[card.id] = card
        self.silences.update((silence.id, silence) for silence in silences)

    @property
    def open(self) -> Iterator[Incident]:
        return (incident for incident in self._incidents.values() if incident.is_open)

    def get(self, id: str) -> Incident | None:
        return self._incidents.get(id)

    def cards_of(self, id: str) -> Mapping[CardId, PostedCard]:
        return self._cards.get(id, {})

    def apply(self, changed: Changed) -> None:
        """Take over committed rows: table -> id -> the row, None if it was deleted."""
        for id, incident in changed.get("incidents", {}).items():
            if incident is None:
                self._drop(id)
            elif incident.cluster == self._cluster and (incident.is_open or id in self._incidents):
                self._put(incident)  # a resolved one that was forgotten stays so: its cards are not known
        for card in changed.get("cards", {}).values():
            if card is not None and card.kind is CardKind.INCIDENT and card.row_id in self._incidents:
                self._cards.setdefault(card.row_id, {})[card.id] = card
        for id, silence in changed.get("silences", {}).items():
            if silence is None:
                self.silences.pop(id, None)
            elif silence.cluster == self._cluster:
                self.silences[id] = silence

    def forget(self, now: datetime) -> None:
        """Drop what can no longer change: incidents that ended long ago, and silences that ended."""
        over = [
            incident.id
            for incident in self._incidents.values()
            if incident.resolved_at is not None and now - incident.resolved_at >= self._remembered_for
        ]
        for id in over:
            self._drop(id)
        for silence in [one for one in self.silences.values() if one.ends_at <= now or one.expired_at]:
            del self.silences[silence.id]

    def absorb(
        self,
        updates: Iterable[Update],
        *,
        grouping: GroupingContext,
        channels_of: Callable[[Alert], tuple[str, ...]],
        now: datetime,
    ) -> Effects:
        """Return what the alerts change, in their order: incidents opened, changed, reopened and resolved.

        An alert stays with the incident that has it, whatever its group key is now. One of severity info is
        context for an open incident and opens none.
        """
        draft = _Draft(self._incidents, self._by_group, self._by_alert, grouping)
        for alert, at in updates:
            if alert.life.state is not AlertState.PENDING:
                channels = channels_of(alert)
                incident = draft.incident_of(alert, channels, at)
                if incident is not None:
                    draft.put(with_crash(add_alert(incident, alert, grouping, at), grouping.topology), alert)
        opened: list[Incident] = []
        changed: dict[str, Incident] = {}
        for id, incident in {**{one.id: one for one in self.open}, **draft.touched}.items():
            seen = with_proofs(with_failures(incident, grouping.topology), grouping.facts, now)
            updated = resolve_if_over(seen, now)
            stored = self._incidents.get(id)
            if stored is None:
                opened.append(updated)
            elif updated is not stored and updated != stored:
                changed[id] = updated
        before = {id: self._incidents[id] for id in changed}
        return Effects(before=before, changed=changed, opened=tuple(opened))

    def wanted_cards(self, effects: Effects) -> list[tuple[Incident, list[PostedCard]]]:
        """Return the changed incidents and those that lack a card, each with the cards to add or to reopen."""
        wanted: list[tuple[Incident, list[PostedCard]]] = []
        for incident in (*effects.incidents, *(one for one in self.open if one.id not in effects.changed)):
            before = self._incidents.get(incident.id)
            after = before.events[-1].number if before is not None and before.events else 0
            cards = desired_cards(incident, self.cards_of(incident.id), after=after)
            if cards or incident is not before:
                wanted.append((incident, cards))
        return wanted

    def _put(self, incident: Incident) -> None:
        before = self._incidents.get(incident.id)
        self._incidents[incident.id] = incident
        self._by_group.setdefault(incident.group_key, {})[incident.id] = None
        for member in before.members if before is not None else ():
            if self._by_alert.get(member.alert) == incident.id:
                del self._by_alert[member.alert]
        if incident.is_open:
            self._by_alert.update((member.alert, incident.id) for member in incident.members)

    def _drop(self, id: str) -> None:
        incident = self._incidents.pop(id, None)
        if incident is None:
            return
        self._cards.pop(id, None)
        self._by_group[incident.group_key].pop(id, None)
        if not self._by_group[incident.group_key]:
            del self._by_group[incident.group_key]
        for member in incident.members:
            if self._by_alert.get(member.alert) == id:
                del self._by_alert[member.alert]


class _Draft:
    """The incidents as they are within a cycle: what it has touched so far, above the book."""

    def __init__(
        self,
        incidents: Mapping[str, Incident],
        by_group: Mapping[str, Mapping[str, None]],
        by_alert: Mapping[str, str],
        grouping: GroupingContext,
    ) -> None:
        self._reopens_within = grouping.reopens_within
        self._topology = grouping.topology
        self._crashes: Crashes | None = None
        self.touched: dict[str, Incident] = {}
        self._incidents = incidents
        self._by_group = by_group
        self._by_alert = by_alert
        self._homes: dict[str, str] = {}  # Alert.id -> id, of this cycle
        self._opened: dict[str, list[str]] = {}  # group key -> ids, of this cycle

    def put(self, incident: Incident, alert: Alert) -> None:
        self.touched[incident.id] = incident
        self._homes[alert.id] = incident.id
        if self._crashes is not None:
            self._crashes.add(incident)

    def incident_of(self, alert: Alert, channels: tuple[str, ...], at: datetime) -> Incident | None:
        """Return the incident that has the alert already, else its group's, else a new one; None for none."""
        home = self._homes.get(alert.id) or self._by_alert.get(alert.id)
        of_group = self._of_group(alert) if home is None else []
        known = self._get(home) if home else self._crash(alert, at) or self._belonging(alert, of_group, at)
        if alert.is_firing and known is not None and (over := resolve_if_over(known, at)) is not known:
            self.touched[over.id] = over  # it ended within this cycle, before the alert fired
            of_group = self._of_group(alert)
            known = self._belonging(alert, of_group, at)
        if known is not None and (known.is_open or alert.severity is not Severity.INFO):
            return replace(known, channels=tuple(dict.fromkeys((*known.channels, *channels))))
        if not alert.is_firing or alert.severity is Severity.INFO:
            return None
        opened = open_incident(
            f"new {len(self.touched)} {alert.id}",
            alert,
            channels=channels,
            now=at,
            earlier=next((one for one in of_group if not one.is_open and one.id in self._incidents), None),
        )
        self._opened.setdefault(opened.group_key, []).append(opened.id)
        return opened

    def _get(self, id: str) -> Incident:
        return self.touched.get(id) or self._incidents[id]

    def _belonging(self, alert: Alert, of_group: Iterable[Incident], at: datetime) -> Incident | None:
        return next((one for one in of_group if belongs(one, alert, at, self._reopens_within)), None)

    def _crash(self, alert: Alert, at: datetime) -> Incident | None:
        """Return the incident of the crash of a training that the alert belongs to."""
        if not may_be_crash(alert):
            return None
        if self._crashes is None:
            self._crashes = Crashes(self._topology, map(self._get, {**self._incidents, **self.touched}))
        found = map(self._get, self._crashes.candidates(alert))
        return next((one for one in found if joins_crash(one, alert, at)), None)

    def _of_group(self, alert: Alert) -> list[Incident]:
        """Return the incidents of the alert's object, the latest first."""
        keys = reversed(group_keys_of(alert))
        ids = [id for key in keys for of in (self._by_group, self._opened) for id in of.get(key, ())]
        return [self._get(id) for id in reversed(ids)]
