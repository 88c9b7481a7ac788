"""Answers of `incident show` about a parent incident: its card and history, or a page of its incidents."""

from alerts.cards.headline import headline
from alerts.cards.message import Block, Context, Message, Paragraph, Table
from alerts.cards.parent_card import parent_card, worst_first
from alerts.cards.parent_words import parent_event, place_shown
from alerts.cards.text import bold, moment, person, text
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.parents.storm_keys import node_of
from alerts.store import StoreSnapshot
from collectors.facts.clock import humanize
from collectors.facts.sentences import counted, sentence
from commands.core.command import Answer, UnusableError
from commands.core.context import CommandContext
from commands.core.parent_members import members_of
from commands.incident.parent_silences import parent_context

PAGE = 25  # incidents
SHOWN = 20  # events


async def parent_answer(
    parent: ParentIncident, page: int | None, snapshot: StoreSnapshot, context: CommandContext
) -> Answer:
    """Return its card with its latest history, or the page. Raises UnusableError without such a page."""
    members = await members_of(parent, snapshot)
    if page:
        return _page(parent, page, members, context)
    shown = await parent_context(parent, members, snapshot, people=context.defaults.owners, now=context.now)
    card = parent_card(parent, members, context=shown)
    history = tuple(
        Context(text=text(moment(event.at), " ", parent_event(parent, event)))
        for event in parent.events[-SHOWN:]
    )
    blocks: tuple[Block, ...] = (*card.blocks, Paragraph(text=text(bold("History"))), *history)
    return Answer(message=Message(title=card.title, color=card.color, blocks=blocks))


def _page(parent: ParentIncident, number: int, members: list[Incident], context: CommandContext) -> Answer:
    pages = max(1, -(-len(members) // PAGE))
    if number > pages:
        raise UnusableError(
            counted(
                "Incident `{incident}` has {count} page of incidents.",
                "Incident `{incident}` has {count} pages of incidents.",
                incident=parent.id,
                count=pages,
            )
        )
    ordered = worst_first(members)[(number - 1) * PAGE : number * PAGE]
    rows = tuple(
        (
            one.id,
            node_of(one),
            one.severity.value if one.is_open else "resolved",
            headline(one),
            humanize(one.lasted(context.now), parts=1),
            person(one.acknowledged_by, one.acknowledged_by_name).text,
        )
        for one in ordered
    )
    title = sentence(
        "Incidents of {incident} ({place}), page {number} of {pages}",
        incident=parent.id,
        place=place_shown(parent),
        number=number,
        pages=pages,
    )
    blocks: tuple[Block, ...] = (Table(heading=("id", "node", "severity", "what", "for", "by"), rows=rows),)
    if number < pages:
        following = sentence(
            "The next: `incident show {incident} --page {page}`", incident=parent.id, page=number + 1
        )
        blocks = (*blocks, Context(text=text(following)))
    return Answer(message=Message(title=text(bold(title)), blocks=blocks))
