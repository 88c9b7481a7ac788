"""This file says which cards and lines an incident calls for. Pure: what is there already is handed in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from alerts.incidents.incident import LOUD, Happening, Incident
from alerts.telling.cards import CardId, CardKind, Line, Told, card_id, line_id
from alerts.telling.composing import event_line
from alerts.telling.surroundings import Surroundings

_BROADCAST = frozenset({Happening.WORSE, Happening.REOPENED})


def wanted_cards(incident: Incident, there: Mapping[CardId, Told], *, after: int = 0) -> list[Told]:
    """The cards that are missing, one a channel, and those to be woken because the incident is back.

    `after`: the last event that the store has already. A new card has no lines of what was before it.
    """
    wanted: list[Told] = []
    for channel in incident.channels:
        id = card_id(CardKind.INCIDENT, incident.id, channel)
        known = there.get(id)
        if known is None:
            wanted.append(
                Told(
                    id=id,
                    cluster=incident.cluster,
                    kind=CardKind.INCIDENT,
                    of=incident.id,
                    channel=channel,
                    after=after,
                )
            )
        elif known.is_settled and incident.is_open:
            wanted.append(replace(known, is_settled=False))
    return wanted


def wanted_lines(incident: Incident, cards: Sequence[Told], *, around: Surroundings) -> list[Line]:
    """The lines of everything loud that happened: their ids make each of them be said once in each thread."""
    return [
        Line(
            id=line_id(card.id, str(event.number)),
            cluster=incident.cluster,
            card=card.id,
            said=event_line(incident, event, around=around),
            at=event.at,
            broadcast=event.what in _BROADCAST,
        )
        for card in cards
        for event in incident.events
        if event.what in LOUD and event.number > card.after
    ]
