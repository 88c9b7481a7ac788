"""This file has `incident list|show`."""

from dataclasses import dataclass, replace

import click

from alerts.cards.incident_card import event_text, incident_card
from alerts.cards.message import Block, Color, Context, Message, Paragraph, Table, bold, moment, text
from alerts.incidents.grouping import place_of
from alerts.incidents.incident import Incident
from collectors.facts.clock import in_words
from commands.core.command import ROW_NAME, Answer, Command, UnusableError
from commands.core.context import CommandContext
from commands.incident.card_context import incident_context

SHOWN = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ListIncidents:
    all: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowIncident:
    incident: str


async def listing(action: ListIncidents, context: CommandContext) -> Answer:
    """Open incidents, the worst first; with --all the latest, whatever their state."""
    async with context.store.unit() as unit:
        if action.all:
            found = list(
                await unit.incidents.find(cluster=context.cluster.name, newest=True, limit=SHOWN + 1)
            )
        else:
            found = list(await unit.incidents.find(cluster=context.cluster.name, state="open"))
            found.sort(key=lambda one: (-one.severity.rank, one.opened_at))
    if not found:
        return Answer(message=Message(title=text("No open incidents."), color=Color.GOOD))
    rows = tuple(_row(incident, context) for incident in found[:SHOWN])
    table = Table(
        heading=("id", "severity", "what", "where", "for", "who"), rows=rows, more=len(found) - len(rows)
    )
    many = (
        "the latest incidents"
        if action.all
        else f"{len(found)} open incident{'s' if len(found) != 1 else ''}"
    )
    return Answer(message=Message(title=text(bold(many.capitalize())), blocks=(table,)))


def _row(incident: Incident, context: CommandContext) -> tuple[str, ...]:
    state = incident.severity.value if incident.is_open else "resolved"
    lasted = in_words(incident.lasted(context.now), parts=1)
    who = incident.acknowledged_by_name or incident.acknowledged_by
    return (incident.id, state, incident.lead.name, place_of(incident.subject), lasted, who)


async def show(action: ShowIncident, context: CommandContext) -> Answer:
    """The incident's card as it stands, and its latest history under it."""
    async with context.store.unit() as unit:
        incident = await unit.incidents.get(action.incident)
        if incident is None:
            raise UnusableError(
                f"There is no incident `{action.incident}`. `incident list --all` shows the latest."
            )
        gathered = await incident_context(incident, unit, rules=context.rules, now=context.now)
    around = replace(gathered, people=context.defaults.owners)
    card = incident_card(incident, context=around, now=context.now)
    history = tuple(
        Context(text=text(moment(event.at), " ", event_text(incident, event, context=around)))
        for event in incident.events[-SHOWN:]
    )
    blocks: tuple[Block, ...] = (*card.blocks, Paragraph(text=text(bold("History"))), *history)
    return Answer(message=Message(title=card.title, color=card.color, blocks=blocks))


COMMANDS = (
    Command(
        noun="incident",
        verb="list",
        summary="List open incidents, the worst first.",
        action=ListIncidents,
        parameters=(click.Option(["--all"], is_flag=True, help="the latest, resolved ones too"),),
        read=listing,
        for_everyone=True,
        example="incident list",
    ),
    Command(
        noun="incident",
        verb="show",
        summary="Show an incident and its history.",
        action=ShowIncident,
        parameters=(click.Argument(["incident"], type=ROW_NAME),),
        read=show,
        for_everyone=True,
        table="incidents",
        example="incident show i12",
    ),
)
