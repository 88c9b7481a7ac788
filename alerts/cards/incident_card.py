"""The card of an incident: what, where, who is affected and what to do, in the first three lines. Pure."""

import re
from datetime import datetime

from alerts.cards.concerned import concerned
from alerts.cards.culprits import culprits_texts
from alerts.cards.event_words import done_by, earlier, not_known, repeated, resolution
from alerts.cards.explanation import detail_of, many_alerts, other_alerts
from alerts.cards.headline import headline
from alerts.cards.incident_buttons import (
    card_buttons,
    is_closed_by_acknowledging,
    runbook_address,
    runbook_of,
    shipped_runbook,
)
from alerts.cards.incident_context import NO_CONTEXT, Asked, IncidentAction, IncidentContext
from alerts.cards.message import Block, Color, Context, Message, Paragraph, Preformatted
from alerts.cards.offers import offers
from alerts.cards.proof_text import came_back, waits_for
from alerts.cards.suggested_actions import fill, label_of
from alerts.cards.text import Text, bold, code, link, person, text
from alerts.incidents.grouping import place_of, shared_subject
from alerts.incidents.incident import Incident
from alerts.rules import Severity
from collectors.facts.sentences import Sentence, listed, sentence

EVIDENCE_LINES = 4
_COLORS = {Severity.CRITICAL: Color.CRITICAL, Severity.WARNING: Color.WARNING, Severity.INFO: Color.INFO}
_LOUD = {
    Severity.CRITICAL: sentence("CRITICAL"),
    Severity.WARNING: sentence("WARNING"),
    Severity.INFO: sentence("INFO"),
}
_TIME = re.compile(r"(?<!\d)\d{2}:\d{2}:\d{2}(?!\d)")  # and no PCI address
_OWN_TIMES = sentence("The program itself wrote the times in these lines, often in UTC.")
_MARKS = {Severity.CRITICAL: "🔴", Severity.WARNING: "🟠", Severity.INFO: "🔵"}


def incident_card(incident: Incident, *, context: IncidentContext = NO_CONTEXT, now: datetime) -> Message:
    """Return the card for the incident's current state."""
    lead = incident.lead
    blocks: list[Block] = [Paragraph(text=line) for line in first_lines(incident, context)]
    if reason := _unseen(incident, context):
        blocks.append(Paragraph(text=text("⚪ ", bold("Cannot see it now: "), reason)))
    returned = context.returned if incident.is_open else None
    details = (detail_of(incident, is_advised=returned is not None), other_alerts(incident))
    blocks += [Paragraph(text=part) for part in details if part]
    blocks += [Paragraph(text=line) for line in culprits_texts(context.culprits, context.people)]
    if returned is not None:
        blocks.append(Paragraph(text=came_back(returned)))
    if waiting := waits_for(incident):
        blocks.append(Paragraph(text=waiting))
    if many := many_alerts(incident):
        blocks.append(Paragraph(text=many))
    if evidence := lead.texts[:EVIDENCE_LINES]:
        if not incident.is_open:  # it says what is so in the present tense
            blocks.append(Paragraph(text=text(bold("What was seen:"))))
        blocks.append(Preformatted(lines=evidence))
        if any(map(_TIME.search, evidence)):  # the card's own times are the reader's
            blocks.append(Context(text=text(_OWN_TIMES)))
    blocks += [Paragraph(text=left.text) for left in context.still_open]
    if (buttons := card_buttons(incident, context)).is_needed:
        blocks.append(buttons)
    blocks.append(Context(text=_foot(incident, context)))
    return Message(
        title=card_title(incident),
        color=card_color(incident, context),
        blocks=tuple(blocks),
        summary=_summary(incident),
    )


def card_title(incident: Incident) -> Text:
    return text("✅ " if not incident.is_open else f"{_MARKS[incident.severity]} ", bold(headline(incident)))


def first_lines(incident: Incident, context: IncidentContext) -> tuple[Text, ...]:
    """Return the lines after the title: where it is and whom it concerns, and what is done about it."""
    return concerned(incident, context), _next(incident, context)


def card_color(incident: Incident, context: IncidentContext) -> Color:
    if not incident.is_open:
        return Color.GOOD
    return Color.QUIET if context.silenced_until else _COLORS[incident.severity]


def _next(incident: Incident, context: IncidentContext) -> Text:
    """The action in progress, the actions done, or what to do next."""
    if not incident.is_open:
        return resolution(incident, context)
    if running := [action for action in context.actions if action.state in ("confirmed", "running")]:
        return text(bold("In progress: "), _by(running[-1]))
    if unknown := [action for action in context.actions if action.state == "unknown"]:
        return text(
            sentence("{said}; Yardmaster looks again once the cluster answers", said=not_known(unknown[-1]))
        )
    if waiting := [action for action in context.actions if action.state == "waiting"]:
        return text(bold("Held back: "), _by(waiting[-1]))
    if context.asked:
        return text(bold("Asked: "), listed(map(_asked, context.asked)))
    done = [action for action in context.actions if action.state == "done"]
    line = text(bold("Done: "), listed(map(done_by, done[-2:]))) if done else ()
    if any(action.explains(incident) for action in done):
        return _waiting(incident, line)
    waits = is_closed_by_acknowledging(incident)
    left = offers(incident, context)
    if waits and not left:
        return text(
            line,
            ". " if line else (),
            "It is closed once somebody has acknowledged it",
            _runbook(incident, context),
        )
    if left:
        return text(
            line, " · " if line else (), bold("Next: "), bold(label_of(left[0])), _runbook(incident, context)
        )
    if line:
        return text(_waiting(incident, line), _runbook(incident, context))
    if shipped := shipped_runbook(incident, context):
        return text(bold("Next: "), sentence("read `runbook {page}`", page=shipped))
    if page := _runbook(incident, context):
        return text(bold("Next: "), sentence("investigate"), page)
    return text(bold("Next: "), sentence("investigate; no action is suggested"))


def _by(action: IncidentAction) -> Sentence:
    return sentence("`{line}`, by {who}", line=action.line, who=person(action.who, action.who_name))


def _waiting(incident: Incident, done: Text) -> Text:
    """For what the incident waits once something was done; a line of the card says which proof."""
    template = (
        "{done}; waiting for a proof"
        if incident.is_only_unproven
        else "{done}; waiting for the alerts to resolve"
    )
    return text(sentence(template, done=done))


def _asked(asked: Asked) -> Sentence:
    owner = (
        person(asked.owner_id, asked.owner)
        if asked.owner_id
        else text(asked.owner or sentence("unknown owner"))
    )
    return sentence("{owner} until {at}", owner=owner, at=asked.until)


def _runbook(incident: Incident, context: IncidentContext) -> Text:
    if address := runbook_address(incident, context):
        return text(" · ", link(address, "runbook"))
    if shipped_runbook(incident, context):
        return ()  # the menu has it
    page = runbook_of(incident, context)
    return text(" · ", sentence("runbook {page}", page=page)) if page else ()


def _unseen(incident: Incident, context: IncidentContext) -> Text:
    """Why the incident cannot be seen now: its sources are unavailable, or none of its alerts has data."""
    if not incident.is_open:
        return ()
    if context.blind:
        return text(context.blind)
    since = [member.unseen_since for member in incident.firing if member.unseen_since]
    if not since or len(since) < len(incident.firing):
        return ()
    return text(sentence("no data since {at}", at=max(since)))


def _foot(incident: Incident, context: IncidentContext) -> Text:
    subject = shared_subject(incident)
    rack = f"{subject.rack}, " if subject.rack and subject.rack != place_of(subject) else ""
    parts = text(
        code(incident.id), f" · {rack}{incident.cluster} · ", sentence("since {at}", at=incident.began_at)
    )
    if incident.is_open and (again := repeated(incident)):
        parts = text(parts, " · ", again)
    if before := earlier(incident):
        parts = text(parts, " · ", before)
    if incident.acknowledged_by:
        who = person(incident.acknowledged_by, incident.acknowledged_by_name)
        parts = text(parts, " · ", sentence("acknowledged by {who}", who=who))
    if context.is_silenced_until_over and incident.is_open:
        parts = text(parts, " · ", sentence("silenced until it is over"))
    elif context.silenced_until and incident.is_open:
        parts = text(parts, " · ", sentence("silenced until {at}", at=context.silenced_until))
    for name, address in context.links.items():
        if (filled_in := fill(address, incident.subject)) is not None:
            parts = text(parts, " · ", link(filled_in, name))
    return parts


def _summary(incident: Incident) -> str:
    if not incident.is_open:
        return sentence("Resolved: {headline}", headline=headline(incident))
    return listed([_LOUD[incident.severity], headline(incident)], ":")
