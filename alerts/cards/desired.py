"""This file says which cards and lines an incident calls for. Pure: what is there already is handed in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from alerts.cards.incident_card import event_text
from alerts.cards.incident_context import IncidentContext
from alerts.cards.posted import CardId, CardKind, PostedCard, ThreadReply, card_id, reply_id
from alerts.incidents.incident import NOTIFYING, Incident, IncidentEventType

_BROADCAST = frozenset({IncidentEventType.SEVERITY_RAISED, IncidentEventType.REOPENED})


def desired_cards(
    incident: Incident, there: Mapping[CardId, PostedCard], *, after: int = 0
) -> list[PostedCard]:
    """The cards that are missing, one a channel, and those to be woken because the incident is back.

    `after`: the last event that the store has already. A new card has no lines of what was before it.
    """
    wanted: list[PostedCard] = []
    for channel in incident.channels:
        id = card_id(CardKind.INCIDENT, incident.id, channel)
        known = there.get(id)
        if known is None:
            wanted.append(
                PostedCard(
                    id=id,
                    cluster=incident.cluster,
                    kind=CardKind.INCIDENT,
                    row_id=incident.id,
                    channel=channel,
                    after_event=after,
                )
            )
        elif known.is_final and incident.is_open:
            wanted.append(replace(known, is_final=False))
    return wanted


def desired_replies(
    incident: Incident, cards: Sequence[PostedCard], *, context: IncidentContext
) -> list[ThreadReply]:
    """The lines of everything loud that happened: their ids make each of them be said once in each thread."""
    return [
        ThreadReply(
            id=reply_id(card.id, str(event.number)),
            cluster=incident.cluster,
            card=card.id,
            text=event_text(incident, event, context=context),
            at=event.at,
            broadcast=event.type in _BROADCAST,
        )
        for card in cards
        for event in incident.events
        if event.type in NOTIFYING and event.number > card.after_event
    ]
