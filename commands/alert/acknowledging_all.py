"""The commands `alert ack|hand-over|unack` of a parent incident: its open members go with it."""

from dataclasses import replace

from alerts.cards.desired_cards import desired_replies
from alerts.cards.message import Message
from alerts.cards.parent_words import parent_headline
from alerts.cards.posted import CardKind, PostedCard, ThreadReply
from alerts.cards.text import person, text
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.parents.working_on import Followed, acknowledge_all, give_all_back, hand_over_all
from alerts.store import Unit
from collectors.facts.sentences import counted, sentence
from commands.core.command import Answer, UnusableError
from commands.core.context import CommandContext
from commands.core.named_incident import check_changeable
from commands.core.parent_members import members_of


async def ack_all(parent: ParentIncident, unit: Unit, context: CommandContext) -> Answer:
    """Record that the sender works on the parent and on each member that nobody has."""
    check_changeable("alert ack", parent, context)
    if context.actor.is_one(parent.acknowledged_by):
        raise UnusableError(sentence("You already acknowledged incident `{incident}`.", incident=parent.id))
    members = await members_of(parent, unit)
    changed = acknowledge_all(
        parent, members, who=context.actor.person, who_name=context.actor.name, now=context.now
    )
    await _put(changed, unit)
    title = counted(
        "You acknowledged incident `{incident}` and {count} incident under it: {summary}",
        "You acknowledged incident `{incident}` and {count} incidents under it: {summary}",
        incident=parent.id,
        count=len(changed[1]),
        summary=parent_headline(parent),
    )
    return Answer(message=Message(title=text(title)))


async def hand_all(parent: ParentIncident, to: str, name: str, unit: Unit, context: CommandContext) -> Answer:
    """Record that another person works on the parent and its members."""
    check_changeable("alert hand-over", parent, context)
    if parent.acknowledged_by in context.persons.ids_of(to):
        raise UnusableError(
            sentence("They have already acknowledged incident `{incident}`.", incident=parent.id)
        )
    members = await members_of(parent, unit)
    await _put(
        hand_over_all(parent, members, to=to, to_name=name, by_name=context.actor.name, now=context.now),
        unit,
    )
    title = sentence(
        "You handed incident `{incident}` over to {who}.", incident=parent.id, who=person(to, name)
    )
    return Answer(message=Message(title=text(title)))


async def unack_all(parent: ParentIncident, unit: Unit, context: CommandContext) -> Answer:
    """Record that nobody works on the parent, nor on the members that went with it."""
    check_changeable("alert unack", parent, context)
    if not parent.acknowledged_by:
        raise UnusableError(sentence("Nobody has acknowledged incident `{incident}`.", incident=parent.id))
    members = await members_of(parent, unit)
    await _put(
        give_all_back(
            parent, members, who=context.actor.person, who_name=context.actor.name, now=context.now
        ),
        unit,
    )
    return Answer(
        message=Message(
            title=text(sentence("Incident `{incident}` waits for somebody again.", incident=parent.id))
        )
    )


async def _put(changed: Followed, unit: Unit) -> None:
    """Store the parent, its members, and the replies of its last event."""
    parent, members = changed
    await unit.rows(ParentIncident).put(parent)
    for member in members:
        await unit.rows(Incident).put(member)
    cards = await unit.rows(PostedCard).find(kind=CardKind.PARENT.value, row_id=parent.id)
    for reply in desired_replies(replace(parent, events=parent.events[-1:]), cards):
        await unit.rows(ThreadReply).add(reply)
