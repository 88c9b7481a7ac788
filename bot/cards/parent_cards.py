"""The card of a parent incident and its replies, composed of the parent and its members."""

from dataclasses import replace
from datetime import datetime

from alerts.alert import Alert
from alerts.cards.desired_cards import BROADCAST
from alerts.cards.incident_facts import incident_facts, shown_members
from alerts.cards.parent_card import (
    ParentContext,
    parent_buttons,
    parent_card,
    parent_color,
    parent_lines,
)
from alerts.cards.parent_words import parent_event, parent_headline, parent_reminder
from alerts.cards.posted import CardKind, PostedCard, ThreadReply
from alerts.cards.text import Span, joined
from alerts.incidents.events import IncidentEventType
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.silences import Silence
from alerts.store import StoreSnapshot
from bot.cards.card_kind import (
    CardContext,
    CardDefinition,
    Composed,
    all_of_its_cluster,
    composer_with_events,
    own,
)
from bot.cards.incident_cards import LOOK_AGAIN
from collectors.facts.sentences import listed
from commands.core.parent_members import all_in_one, members_of
from commands.incident.parent_silences import parent_context

REPLY_BUTTONS = 1  # the rest is on the card


async def _composed(
    parent: ParentIncident, card: PostedCard, snapshot: StoreSnapshot, shared: CardContext, now: datetime
) -> Composed:
    members = await members_of(parent, snapshot)
    context = await parent_context(parent, members, snapshot, people=shared.people, now=now)
    context = replace(context, blind=_blind_reason(parent, members, shared))
    message = parent_card(parent, members, context=context)
    if shared.wants_facts(card.channel):
        if parent.is_open and context.silenced_until is not None:  # a post would notify
            return Composed(message=None, next_due=context.silenced_until)
        if not parent.is_open and await _is_broken_again(parent, card.channel, snapshot):
            return Composed(message=None, next_due=now + LOOK_AGAIN)
        whole = all_in_one(parent, members)
        rows = await snapshot.rows(Alert).get_all(member.alert for member in shown_members(whole))
        facts = incident_facts(whole, rows, title=parent_headline(parent), links={})
        message = replace(message, facts=facts)
    if parent.resolved_at is None:
        return Composed(message=message, next_due=context.silenced_until)
    over_at = parent.resolved_at + shared.reopens_within
    return Composed(message=message, is_final=now >= over_at, next_due=over_at)


async def _is_broken_again(parent: ParentIncident, channel: str, snapshot: StoreSnapshot) -> bool:
    """Return whether the channel has a later, open parent of the same key, and would take this end for its end."""
    found = await snapshot.rows(ParentIncident).find(cluster=parent.cluster, key=parent.key, state="open")
    return any(channel in one.channels for one in found)


def _blind_reason(parent: ParentIncident, members: list[Incident], shared: CardContext) -> str:
    """Return the blind sources among those that its rules query, and why."""
    rules = shared.rules()
    names = {member.rule for one in members if one.is_open for member in one.members}
    found = shared.blind(parent.cluster, [rules[name].query for name in sorted(names) if name in rules])
    return listed((listed(one, ":") for one in found.items()), ";")


PARENT_CARD = CardDefinition(
    kind=CardKind.PARENT,
    compose=composer_with_events(ParentIncident, _composed),
    depends_on={
        ParentIncident: own,
        Incident: lambda incident: (incident.parent,) if incident.parent else (),
        Silence: all_of_its_cluster,
    },
)


async def worded_of_parent(
    reply: ThreadReply, card: PostedCard, snapshot: StoreSnapshot, shared: CardContext
) -> ThreadReply:
    """Return the reply with its words. They are empty if the parent, or the event, is no longer stored."""
    parent = await snapshot.rows(ParentIncident).get(card.row_id)
    event = next((one for one in parent.events if one.number == reply.event), None) if parent else None
    if parent is None or event is None:
        return reply
    is_reminder = event.type is IncidentEventType.REMINDED
    said = parent_reminder(parent, event) if is_reminder else parent_event(parent, event)
    if not said or not parent.is_open or not (is_reminder or event.type in BROADCAST):
        return replace(reply, text=said)
    members = await members_of(parent, snapshot)
    lines = parent_lines(parent, members, ParentContext(people=shared.people))
    buttons = parent_buttons(parent, members).buttons[:REPLY_BUTTONS]
    return replace(
        reply, text=joined(Span("\n"), (said, *lines)), buttons=buttons, color=parent_color(parent)
    )
