"""The commands `alert ack|hand-over|unack`: who works on an incident."""

from dataclasses import dataclass, replace

import click

from alerts.cards.desired_cards import desired_replies
from alerts.cards.message import Message
from alerts.cards.posted import CardKind, PostedCard, ThreadReply
from alerts.cards.text import person, text
from alerts.incidents.grouping import acknowledge, give_back, hand_over
from alerts.incidents.incident import Incident
from alerts.store import Unit
from collectors.facts.sentences import sentence
from commands.alert.acknowledging_all import ack_all, hand_all, unack_all
from commands.core.command import Answer, Command, UnusableError
from commands.core.context import CommandContext
from commands.core.named_incident import check_changeable, incident_named
from commands.core.named_person import named_person
from commands.core.parameter_types import ALERT_OR_INCIDENT, PERSON
from commands.core.parent_members import parent_named


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentName:
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOver:
    name: str
    person: str


async def ack(action: IncidentName, context: CommandContext) -> Answer:
    """Record that the sender works on the incident."""
    async with context.store.unit() as unit:
        if (parent := await parent_named(action.name, unit)) is not None:
            return await ack_all(parent, unit, context)
        incident = await _open_incident(action.name, "alert ack", unit, context)
        if context.actor.is_one(incident.acknowledged_by):
            raise UnusableError(
                sentence("You already acknowledged incident `{incident}`.", incident=incident.id)
            )
        acked = acknowledge(incident, who=context.actor.person, who_name=context.actor.name, now=context.now)
        await _put(acked, unit)
    title = text(
        sentence(
            "You acknowledged incident `{incident}`: {summary}",
            incident=incident.id,
            summary=incident.lead.summary,
        )
    )
    return Answer(message=Message(title=title))


async def hand(action: HandOver, context: CommandContext) -> Answer:
    """Record that another person works on the incident; the card's thread mentions them."""
    to, name = named_person(action.person, context)
    async with context.store.unit() as unit:
        if (parent := await parent_named(action.name, unit)) is not None:
            return await hand_all(parent, to, name, unit, context)
        incident = await _open_incident(action.name, "alert hand-over", unit, context)
        if incident.acknowledged_by in context.persons.ids_of(to):
            raise UnusableError(
                sentence("They have already acknowledged incident `{incident}`.", incident=incident.id)
            )
        handed = hand_over(incident, to=to, to_name=name, by_name=context.actor.name, now=context.now)
        await _put(handed, unit)
    title = text(
        sentence(
            "You handed incident `{incident}` over to {who}.", incident=incident.id, who=person(to, name)
        )
    )
    return Answer(message=Message(title=title))


async def unack(action: IncidentName, context: CommandContext) -> Answer:
    """Record that nobody works on the incident: it is for whoever is on call again."""
    async with context.store.unit() as unit:
        if (parent := await parent_named(action.name, unit)) is not None:
            return await unack_all(parent, unit, context)
        incident = await _open_incident(action.name, "alert unack", unit, context)
        if not incident.acknowledged_by:
            raise UnusableError(
                sentence("Nobody has acknowledged incident `{incident}`.", incident=incident.id)
            )
        returned = give_back(incident, who=context.actor.person, who_name=context.actor.name, now=context.now)
        await _put(returned, unit)
    title = text(sentence("Incident `{incident}` waits for somebody again.", incident=incident.id))
    return Answer(message=Message(title=title))


async def _open_incident(name: str, command: str, unit: Unit, context: CommandContext) -> Incident:
    incident = await incident_named(name, unit, context)
    check_changeable(command, incident, context)
    return incident


async def _put(incident: Incident, unit: Unit) -> None:
    """Store the incident and the replies of its last event: now, not in the next evaluation cycle."""
    await unit.rows(Incident).put(incident)
    cards = await unit.rows(PostedCard).find(kind=CardKind.INCIDENT.value, row_id=incident.id)
    latest = replace(incident, events=incident.events[-1:])
    for reply in desired_replies(latest, cards):
        await unit.rows(ThreadReply).add(reply)


_INCIDENT = click.Argument(["name"], type=ALERT_OR_INCIDENT, metavar="INCIDENT")

COMMANDS = (
    Command(
        noun="alert",
        verb="ack",
        summary="Acknowledge an incident; its card then shows your name.",
        action=IncidentName,
        parameters=(_INCIDENT,),
        record=ack,
        table=Incident,
        example="alert ack i12",
    ),
    Command(
        noun="alert",
        verb="hand-over",
        summary="Hand an incident over to somebody else, who is mentioned in its thread.",
        action=HandOver,
        parameters=(_INCIDENT, click.Argument(["person"], type=PERSON)),
        record=hand,
        table=Incident,
        example="alert hand-over i12 @eli",
    ),
    Command(
        noun="alert",
        verb="unack",
        summary="Take an acknowledgement back: the incident waits for somebody again.",
        action=IncidentName,
        parameters=(_INCIDENT,),
        record=unack,
        table=Incident,
        example="alert unack i12",
    ),
)
