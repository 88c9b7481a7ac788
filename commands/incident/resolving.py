"""The commands `incident resolve|reopen`: a person's word that an incident is over which time does not heal."""

from dataclasses import dataclass, replace

from alerts.cards.desired_cards import desired_cards, desired_replies
from alerts.cards.headline import headline
from alerts.cards.message import Button, Buttons, Message
from alerts.cards.posted import CardKind, PostedCard, ThreadReply
from alerts.cards.text import text
from alerts.incidents.grouping import acknowledge
from alerts.incidents.incident import Incident
from alerts.incidents.member_rows import incident_write, whole_ones, write_incident
from alerts.incidents.proofs import say_over, take_back_word
from alerts.parents.parent_incident import ParentIncident
from alerts.rules import ResolveWhen
from alerts.store import Unit
from collectors.facts.sentences import counted, sentence
from collectors.facts.stepwise import result_of
from commands.core.command import Answer, Command, UnusableError
from commands.core.context import CommandContext
from commands.core.named_incident import check_changeable, check_namespace, incident_named
from commands.core.parameters import INCIDENT_ARGUMENT, reason_option
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
    buttons = Buttons(buttons=(Button(label="Reopen", line=f"incident reopen {incident.id}"),))
    return Answer(message=Message(title=title, blocks=(buttons,)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReopenIncident:
    incident: str
    reason: str


async def reopen_incident(action: ReopenIncident, context: CommandContext) -> Answer:
    """Reopen an incident that a word or an acknowledgement ended; its card shows who says so."""
    async with context.store.unit() as unit:
        if (parent := await parent_named(action.incident, unit)) is not None:
            raise UnusableError(_open_one_of(parent))
        incident = await incident_named(action.incident, unit, context)
        check_namespace("incident reopen", incident, context)
        (whole,) = await whole_ones([incident], unit)
        again = take_back_word(
            whole,
            who=context.actor.person,
            who_name=context.actor.name,
            reason=action.reason,
            now=context.now,
        )
        if again is None:
            raise UnusableError(_not_reopened(incident))
        await _check_no_newer(incident, unit)
        of = await parent_named(incident.parent, unit) if incident.parent else None
        if of is not None and not of.is_open:
            again = replace(again, parent="")  # what is over for many is not over for this one
        write = result_of(incident_write(again, whole, incident))
        await write_incident(unit, write)
        await put_cards(write.document, unit)
    said = sentence(
        "You reopened incident `{incident}`: {headline}", incident=incident.id, headline=headline(again)
    )
    return Answer(message=Message(title=text(said)))


def _open_one_of(parent: ParentIncident) -> str:
    return sentence(
        "`{incident}` stands for many incidents: reopen the one that is not over; "
        "`incident show {incident} --page 1` lists them.",
        incident=parent.id,
    )


def _not_reopened(incident: Incident) -> str:
    if incident.is_open:
        return sentence(
            "Incident `{incident}` is open, and nobody said that it is over.", incident=incident.id
        )
    return sentence(
        "Incident `{incident}` ended by itself: its alerts are over, and it opens again when they fire.",
        incident=incident.id,
    )


async def _check_no_newer(incident: Incident, unit: Unit) -> None:
    """Raise UnusableError if another incident of the same object is open: there would be two."""
    others = await unit.rows(Incident).find(
        cluster=incident.cluster, group_key=incident.group_key, state="open"
    )
    if newer := next((one for one in others if one.id != incident.id), None):
        raise UnusableError(
            sentence(
                "Incident `{newer}` is open about the same object; `{incident}` stays resolved.",
                newer=newer.id,
                incident=incident.id,
            )
        )


async def put_cards(incident: Incident, unit: Unit) -> None:
    """Let the incident's cards live again, with a reply of its last event under each."""
    found = await unit.rows(PostedCard).find(kind=CardKind.INCIDENT.value, row_id=incident.id)
    known = {card.id: card for card in found}
    for card in desired_cards(incident, known, after=incident.events[-1].number):
        known[card.id] = card
        await unit.rows(PostedCard).put(card)
    latest = replace(incident, events=incident.events[-1:])
    for reply in desired_replies(latest, tuple(known.values())):
        await unit.rows(ThreadReply).add(reply)


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
                "Incident `{incident}` is not over: alerts fire in {count} incident under it. "
                "It resolves once they do; `silence incident {incident}` keeps it quiet until then.",
                "Incident `{incident}` is not over: alerts fire in {count} incidents under it. "
                "It resolves once they do; `silence incident {incident}` keeps it quiet until then.",
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
        summary="Say that an incident that waits for a proof is over; its card shows who said so.",
        action=ResolveIncident,
        parameters=(
            INCIDENT_ARGUMENT,
            reason_option("what was done, shown on the card", required=True),
        ),
        record=resolve,
        table=Incident,
        example='incident resolve i12 --reason "GPU replaced"',
    ),
    Command(
        noun="incident",
        verb="reopen",
        summary="Reopen an incident that somebody's word or acknowledgement ended, as it was before.",
        action=ReopenIncident,
        parameters=(
            INCIDENT_ARGUMENT,
            reason_option("why it is not over, shown in its thread", required=True),
        ),
        record=reopen_incident,
        table=Incident,
        example='incident reopen i12 --reason "wrong node"',
    ),
)
