"""The card book: the cards of a cluster's live incidents in memory, the silences, and which cards are wanted. Pure."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from alerts.cards.desired_cards import desired_cards
from alerts.cards.posted import CardId, CardKind, PostedCard
from alerts.incidents.events import last_number
from alerts.incidents.incident import Incident
from alerts.incidents.incident_book import Effects, IncidentBook
from alerts.silences import Silence
from alerts.store import Changed


class CardBook:
    """What is stored beside the incidents of a book, which it must follow after that has: `apply`."""

    def __init__(
        self,
        cluster: str,
        book: IncidentBook,
        *,
        cards: Iterable[PostedCard] = (),
        silences: Iterable[Silence] = (),
    ) -> None:
        self._cluster = cluster
        self._book = book
        self._cards: dict[str, dict[CardId, PostedCard]] = {}  # by incident
        self._lacking: dict[str, None] = {}  # ids of open incidents that lack a card: they were silenced
        self.silences: dict[str, Silence] = {silence.id: silence for silence in silences}
        for card in cards:
            self._cards.setdefault(card.row_id, {})[card.id] = card
        for incident in book.open:
            self._look_at(incident.id)

    def cards_of(self, id: str) -> Mapping[CardId, PostedCard]:
        return self._cards.get(id, {})

    def apply(self, changed: Changed) -> None:
        """Take over committed rows: table -> id -> the row, None if it was deleted."""
        looked = dict.fromkeys(changed.get("incidents", {}))
        for card in changed.get("cards", {}).values():
            if (
                card is not None
                and card.kind is CardKind.INCIDENT
                and self._book.get(card.row_id) is not None
            ):
                self._cards.setdefault(card.row_id, {})[card.id] = card
                looked[card.row_id] = None
        for id in looked:
            self._look_at(id)
        for id, silence in changed.get("silences", {}).items():
            if silence is None:
                self.silences.pop(id, None)
            elif silence.cluster == self._cluster:
                self.silences[id] = silence

    def forget(self, incidents: Iterable[str], now: datetime) -> None:
        """Drop the cards of incidents that the book forgot, and the silences that ended."""
        for id in incidents:
            self._look_at(id)
        for silence in [one for one in self.silences.values() if one.ends_at <= now or one.expired_at]:
            del self.silences[silence.id]

    @property
    def lacking(self) -> Iterable[str]:
        """The ids of the open incidents that lack a card."""
        return tuple(self._lacking)

    def wanted(self, effects: Effects, others: Iterable[str]) -> list[tuple[Incident, list[PostedCard]]]:
        """Return the changed incidents and those of `others`, each with the cards to add or to reopen."""
        known = (self._book.get(id) for id in others if id not in effects.changed)
        found: list[tuple[Incident, list[PostedCard]]] = []
        for incident in (*effects.incidents, *(one for one in known if one is not None)):
            before = self._book.get(incident.id)
            after = last_number(before.events) if before is not None else 0
            found.append((incident, desired_cards(incident, self.cards_of(incident.id), after=after)))
        return found

    def _look_at(self, id: str) -> None:
        incident = self._book.get(id)
        self._lacking.pop(id, None)
        if incident is None:
            self._cards.pop(id, None)
        elif incident.is_open and desired_cards(incident, self.cards_of(id)):
            self._lacking[id] = None
