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
from alerts.parents.parent_incident import ParentIncident
from alerts.rules import ResolveWhen
from alerts.store import Unit
from collectors.facts.sentences import counted, sentence
from collectors.facts.stepwise import result_of
from commands.core.command import Answer, Command, UnusableError
from commands.core.context import CommandContext
from commands.core.named_incident import check_changeable, incident_named
from commands.core.parameter_types import INCIDENT, reason_option
from commands.core.parent_members import members_of, parent_named


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveIncident:
    incident: str
    reason: str


async def resolve(action: ResolveIncident, context: CommandContext) -> Answer:
    """Record the sender's word. The next evaluation cycle resolves the incident."""
    async with context.store.unit() as unit:
        if (parent := await parent_named(action.incident, unit)) is not None:
            return await _resolve_all(parent, action, unit, context)
        incident = await incident_named(action.incident, unit, context)
        check_changeable("incident resolve", incident, context)
        if firing := [member for member in incident.firing if not member.is_unseen]:
            raise UnusableError(
                sentence(
                    "Incident `{incident}` is not over: {summary} It resolves once its alerts do; "
                    "`silence incident {incident}` keeps it quiet until then.",
                    incident=incident.id,
                    summary=firing[0].summary,
                )
            )
        await _say_over(incident, action.reason, unit, context)
    title = text(
        sentence(
            "You said that incident `{incident}` is over: {headline}",
            incident=incident.id,
            headline=headline(incident),
        )
    )
    return Answer(message=Message(title=title))


async def _say_over(incident: Incident, reason: str, unit: Unit, context: CommandContext) -> None:
    who, name, now = context.actor.person, context.actor.name, context.now
    (whole,) = await whole_ones([incident], unit)
    said = say_over(whole, who=who, who_name=name, reason=reason, now=now)
    if said.resolve_when is not ResolveWhen.CLEARED and not said.acknowledged_by:
        said = acknowledge(said, who=who, who_name=name, now=now)
    await write_incident(unit, result_of(incident_write(said, whole, incident)))


async def _resolve_all(
    parent: ParentIncident, action: ResolveIncident, unit: Unit, context: CommandContext
) -> Answer:
    """Record the sender's word for each member in which nothing fires; the others stay open."""
    check_changeable("incident resolve", parent, context)
    live = [one for one in await members_of(parent, unit) if one.is_open]
    over = [one for one in live if all(member.is_unseen for member in one.firing)]
    if not over:
        raise UnusableError(
            counted(
                "Incident `{incident}` is not over: alerts fire in {count} incident of it. It resolves once they do; "
                "`silence incident {incident}` keeps it quiet until then.",
                "Incident `{incident}` is not over: alerts fire in {count} incidents of it. It resolves once they do; "
                "`silence incident {incident}` keeps it quiet until then.",
                incident=parent.id,
                count=len(live),
            )
        )
    for incident in over:
        await _say_over(incident, action.reason, unit, context)
    title = sentence(
        "You said that {over} of {count} open incidents of `{incident}` are over.",
        over=len(over),
        count=len(live),
        incident=parent.id,
    )
    return Answer(message=Message(title=text(title)))


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
