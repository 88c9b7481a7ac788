"""The cards and thread replies that an incident calls for. Pure: existing cards are passed in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from alerts.cards.headline import headline
from alerts.cards.incident_buttons import card_buttons
from alerts.cards.incident_card import first_lines
from alerts.cards.incident_context import IncidentContext
from alerts.cards.incident_events import event_text, repeated
from alerts.cards.posted import CardId, CardKind, PostedCard, ThreadReply, card_id, reply_id
from alerts.cards.text import Span, Text, joined, text
from alerts.incidents.events import NOTIFYING, IncidentEvent, IncidentEventType
from alerts.incidents.incident import Incident

REPLY_BUTTONS = 3  # the rest is on the card
_BROADCAST = frozenset({IncidentEventType.SEVERITY_RAISED, IncidentEventType.REOPENED})


def desired_cards(
    incident: Incident, posted: Mapping[CardId, PostedCard], *, after: int = 0
) -> list[PostedCard]:
    """Return the missing cards, one per channel, and the final cards to reopen because the incident is open again.

    `after`: the last event already stored. A new card gets no replies for events up to it.
    """
    wanted: list[PostedCard] = []
    for channel in incident.channels:
        id = card_id(CardKind.INCIDENT, incident.id, channel)
        known = posted.get(id)
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
    """Return a reply per notifying event and card. The ids ensure that each is posted once in each thread.

    One that is broadcast stands alone in the channel, so it has the first lines of the card and its buttons.
    """
    latest = max((event.number for event in incident.events if event.type in NOTIFYING), default=0)
    return [
        ThreadReply(
            id=reply_id(card.id, str(event.number)),
            cluster=incident.cluster,
            card=card.id,
            text=_broadcast(incident, event, context)
            if is_latest
            else event_text(incident, event, context=context),
            at=event.at,
            broadcast=event.type in _BROADCAST,
            buttons=card_buttons(incident, context).buttons[:REPLY_BUTTONS] if is_latest else (),
        )
        for card in cards
        for event in incident.events
        if event.type in NOTIFYING and event.number > card.after_event
        for is_latest in (event.type in _BROADCAST and event.number == latest and incident.is_open,)
    ]


def _broadcast(incident: Incident, event: IncidentEvent, context: IncidentContext) -> Text:
    said = event_text(incident, replace(event, text=_of_all(incident, event)), context=context)
    again = repeated(incident)
    lines = (text(said, f" ({again})" if again else ""), *first_lines(incident, context))
    return joined(Span("\n"), lines)


def _of_all(incident: Incident, event: IncidentEvent) -> str:
    """Return the event's text for the whole incident, as its card says it, instead of for one alert."""
    said = headline(incident)
    return f"{incident.severity.value}: {said}" if event.type is IncidentEventType.SEVERITY_RAISED else said
