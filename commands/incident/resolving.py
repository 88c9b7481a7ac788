"""The command `incident resolve`: a person's word that an incident is over which time does not heal."""

from dataclasses import dataclass

import click

from alerts.cards.headline import headline
from alerts.cards.message import Message
from alerts.cards.text import text
from alerts.incidents.grouping import acknowledge
from alerts.incidents.incident import Incident
from alerts.incidents.member_rows import incident_write, whole_ones, write_incident
from alerts.incidents.proofs import say_over
from alerts.rules import ResolveWhen
from collectors.facts.sentences import sentence
from collectors.facts.stepwise import result_of
from commands.core.command import Answer, Command, UnusableError
from commands.core.context import CommandContext
from commands.core.named_incident import check_namespace, incident_named
from commands.core.parameter_types import INCIDENT, reason_option


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveIncident:
    incident: str
    reason: str


async def resolve(action: ResolveIncident, context: CommandContext) -> Answer:
    """Record the sender's word. The next evaluation cycle resolves the incident."""
    who, name, now = context.actor.person, context.actor.name, context.now
    async with context.store.unit() as unit:
        incident = await incident_named(action.incident, unit, context)
        check_namespace("incident resolve", incident, context)
        if not incident.is_open:
            raise UnusableError(sentence("Incident `{incident}` is already resolved.", incident=incident.id))
        if firing := [member for member in incident.firing if not member.is_unseen]:
            raise UnusableError(
                sentence(
                    "Incident `{incident}` is not over: {summary} It resolves once its alerts do; "
                    "`silence incident {incident}` keeps it quiet until then.",
                    incident=incident.id,
                    summary=firing[0].summary,
                )
            )
        (whole,) = await whole_ones([incident], unit)
        said = say_over(whole, who=who, who_name=name, reason=action.reason, now=now)
        if said.resolve_when is not ResolveWhen.CLEARED and not said.acknowledged_by:
            said = acknowledge(said, who=who, who_name=name, now=now)
        await write_incident(unit, result_of(incident_write(said, whole, incident)))
    title = text(
        sentence(
            "You said that incident `{incident}` is over: {headline}",
            incident=incident.id,
            headline=headline(incident),
        )
    )
    return Answer(message=Message(title=title))


COMMANDS = (
    Command(
        noun="incident",
        verb="resolve",
        summary="Say that an incident is over that waits for a proof; its card shows who said so.",
        action=ResolveIncident,
        parameters=(
            click.Argument(["incident"], type=INCIDENT),
            reason_option("what was done, shown on the card", required=True),
        ),
        record=resolve,
        table=Incident,
        example='incident resolve i12 --reason "GPU replaced"',
    ),
)
