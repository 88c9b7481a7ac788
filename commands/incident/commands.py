"""The commands `incident list|show`, beside `resolve`."""

from dataclasses import dataclass, replace

from alerts.cards.event_words import event_text
from alerts.cards.headline import headline
from alerts.cards.incident_card import incident_card
from alerts.cards.message import Block, Context, Message, Paragraph, Table
from alerts.cards.parent_words import parent_headline, where_it_belongs
from alerts.cards.text import bold, moment, person, text
from alerts.incidents.grouping import place_of, shared_subject
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.store import StoreSnapshot
from collectors.facts.clock import humanize
from collectors.facts.sentences import counted, sentence
from commands.core.blindness import nothing_seen
from commands.core.command import EVERY_SOURCE, Answer, Command
from commands.core.context import CommandContext
from commands.core.named_rows import named_row
from commands.core.parameter_types import WholeNumberType
from commands.core.parameters import INCIDENT_ARGUMENT, flag, option
from commands.core.parent_members import open_ones, parent_named
from commands.core.testable_nodes import node_tests
from commands.incident.alert_page import alert_page
from commands.incident.card_context import incident_context
from commands.incident.parent_pages import parent_answer
from commands.incident.resolving import COMMANDS as RESOLVING

SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ListIncidents:
    all: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowIncident:
    incident: str
    page: int | None = None  # of its alerts; without one: its card


async def listing(action: ListIncidents, context: CommandContext) -> Answer:
    """Return the open incidents, most severe first; with `--all` the latest ones in any state, open ones first.

    A parent stands for its members, which `incident show` lists.
    """
    async with context.store.read() as snapshot:
        if action.all:
            found = await _latest(context.cluster.name, snapshot)
        else:
            found = [*await open_ones(context.cluster.name, snapshot)]
            found.sort(key=lambda one: one.opened_at)
    found.sort(key=lambda one: (not one.is_open, -one.severity.rank if one.is_open else 0))  # else as found
    if not found:
        return Answer(message=nothing_seen("No open incidents", context))
    rows = tuple(_row(incident, context) for incident in found[:SHOWN])
    table = Table(heading=("id", "severity", "what", "for", "by"), rows=rows, more=len(found) - len(rows))
    title = (
        sentence("The latest incidents")
        if action.all
        else counted("{count} open incident", "{count} open incidents", count=len(found))
    )
    return Answer(message=Message(title=text(bold(title)), blocks=(table,)))


async def _latest(cluster: str, snapshot: StoreSnapshot) -> list[Incident | ParentIncident]:
    parents = await snapshot.rows(ParentIncident).find(cluster=cluster, newest=True, limit=SHOWN + 1)
    others = await snapshot.rows(Incident).find(cluster=cluster, parent="", newest=True, limit=SHOWN + 1)
    latest: list[Incident | ParentIncident] = [*parents, *others]
    latest.sort(key=lambda one: one.opened_at, reverse=True)
    return latest[: SHOWN + 1]


def _row(incident: Incident | ParentIncident, context: CommandContext) -> tuple[str, ...]:
    state = incident.severity.value if incident.is_open else "resolved"
    lasted = humanize(incident.lasted(context.now), parts=1)
    who = person(incident.acknowledged_by, incident.acknowledged_by_name).text
    if isinstance(incident, ParentIncident):
        return (incident.id, state, parent_headline(incident), lasted, who)
    place = place_of(shared_subject(incident))
    what = headline(incident)
    if place.casefold() not in what.casefold():
        what = sentence("{headline} ({place})", headline=what, place=place)
    return (incident.id, state, what, lasted, who)


async def show(action: ShowIncident, context: CommandContext) -> Answer:
    """Return the incident's current card with its latest history, or a page of its alerts."""
    async with context.store.read() as snapshot:
        if (named := await parent_named(action.incident, snapshot)) is not None:
            return await parent_answer(named, action.page, snapshot, context)
        incident = await named_row(
            Incident,
            action.incident,
            snapshot,
            none="There is no incident `{name}`. `incident list --all` shows the latest.",
        )
        if action.page:
            return await alert_page(incident, action.page, snapshot, context)
        stored = await incident_context(
            incident,
            snapshot,
            rules=context.rules,
            now=context.now,
            cluster=context.cluster,
            tests=node_tests(context.defaults.acceptance, context.defaults.node_jobs),
        )
        parent = await parent_named(incident.parent, snapshot) if incident.parent else None
    card_context = replace(stored, people=context.defaults.owners)
    card = incident_card(incident, context=card_context, now=context.now)
    history = tuple(
        Context(text=text(moment(event.at), " ", event_text(incident, event, context=card_context)))
        for event in incident.events[-SHOWN:]
    )
    within = (Context(text=where_it_belongs(incident, parent)),) if parent is not None else ()
    blocks: tuple[Block, ...] = (*within, *card.blocks, Paragraph(text=text(bold("History"))), *history)
    return Answer(message=Message(title=card.title, color=card.color, blocks=blocks))


COMMANDS = (
    *RESOLVING,
    Command(
        noun="incident",
        verb="list",
        summary="List open incidents, most severe first.",
        action=ListIncidents,
        parameters=(flag("--all", help="also resolved ones, the latest first"),),
        read=listing,
        shows=EVERY_SOURCE,
        shows_received=True,
        for_everyone=True,
        example="incident list",
    ),
    Command(
        noun="incident",
        verb="show",
        summary="Show an incident and its history.",
        action=ShowIncident,
        parameters=(
            INCIDENT_ARGUMENT,
            option(
                "--page",
                type=WholeNumberType(least=1),
                metavar="NUMBER",
                help="a page of all its alerts instead of its card",
            ),
        ),
        read=show,
        shows=EVERY_SOURCE,
        for_everyone=True,
        table=Incident,
        example="incident show i12",
    ),
)
