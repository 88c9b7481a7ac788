"""The cards and thread replies that an incident or a parent calls for. Pure: existing cards are passed in.

An incident with a parent gets neither: the parent's card speaks for it, and one that it has already points there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from alerts.cards.posted import CardId, CardKind, PostedCard, ThreadReply, card_id, new_card, reply_id
from alerts.incidents.events import NOTIFYING, IncidentEventType
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident

BROADCAST = frozenset(
    {IncidentEventType.SEVERITY_RAISED, IncidentEventType.WORSENED, IncidentEventType.REOPENED}
)


def desired_cards(
    incident: Incident | ParentIncident, posted: Mapping[CardId, PostedCard], *, after: int = 0
) -> list[PostedCard]:
    """Return the missing cards, one per channel, and the final cards to reopen because the incident is open again.

    `after`: the last event already stored. A new card gets no replies for events up to it.
    """
    wanted: list[PostedCard] = []
    for channel in incident.channels:
        kind = CardKind.PARENT if isinstance(incident, ParentIncident) else CardKind.INCIDENT
        id = card_id(kind, incident.id, channel)
        known = posted.get(id)
        if known is None and incident.parent:
            continue
        if known is None:
            wanted.append(new_card(kind, incident, channel, after_event=after))
        elif known.is_final and incident.is_open:
            wanted.append(replace(known, is_final=False))
    return wanted


def desired_replies(incident: Incident | ParentIncident, cards: Sequence[PostedCard]) -> list[ThreadReply]:
    """Return a reply per notifying event and card. The ids ensure that each is posted once in each thread."""
    if incident.parent:
        return []
    return [
        ThreadReply(
            id=reply_id(card.id, str(event.number)),
            cluster=incident.cluster,
            card=card.id,
            event=event.number,
            at=event.at,
            broadcast=event.type in BROADCAST,
        )
        for card in cards
        for event in incident.events
        if event.type in NOTIFYING and event.number > card.after_event
    ]
