"""The replies in the threads of incidents' cards: they get their words when they are posted, as cards do."""

from alerts.cards.posted import PostedCard, ThreadReply
from alerts.cards.reply_words import worded
from alerts.incidents.incident import Incident
from alerts.store import StoreSnapshot
from bot.cards.card_kind import CardContext
from commands.incident.card_context import context_of, plans_of


async def compose_reply(reply: ThreadReply, snapshot: StoreSnapshot, shared: CardContext) -> ThreadReply:
    """Return the reply with its words. They are empty if its incident, or the event, is no longer stored."""
    card = await snapshot.rows(PostedCard).get(reply.card) if reply.event else None
    incident = await snapshot.rows(Incident).get(card.row_id) if card is not None else None
    if incident is None:
        return reply
    plans = await plans_of([incident], snapshot)
    context = await context_of(incident, plans[incident.id], snapshot, rules=shared.rules())
    return worded(reply, incident, context)
