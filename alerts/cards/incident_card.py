"""The card of an incident: what, where, who is affected and what to do, in the first three lines. Pure."""

from datetime import datetime

from alerts.cards.incident_buttons import card_buttons, runbook_address, runbook_of
from alerts.cards.incident_context import NO_CONTEXT, IncidentContext
from alerts.cards.incident_events import not_known, resolution
from alerts.cards.message import (
    Block,
    Color,
    Context,
    Message,
    Paragraph,
    Preformatted,
    Text,
    bold,
    code,
    joined,
    link,
    moment,
    person,
    text,
)
from alerts.cards.suggested_actions import fill, label_of, suggested_actions
from alerts.incidents.grouping import place_of, shared_subject
from alerts.incidents.incident import Impact, Incident, Member
from alerts.rules import Severity

EVIDENCE_LINES = 4
MEMBERS_SHOWN = 5

_COLORS = {Severity.CRITICAL: Color.CRITICAL, Severity.WARNING: Color.WARNING, Severity.INFO: Color.INFO}
_MARKS = {Severity.CRITICAL: "🔴", Severity.WARNING: "🟠", Severity.INFO: "🔵"}


def incident_card(incident: Incident, *, context: IncidentContext = NO_CONTEXT, now: datetime) -> Message:
    """Return the card for the incident's current state."""
    lead = incident.lead
    blocks: list[Block] = [
        Paragraph(text=_affected(incident, context)),
        Paragraph(text=_next(incident, context)),
    ]
    if reason := _unseen(incident, context):
        blocks.append(Paragraph(text=text("⚪ ", bold("Cannot see it now: "), reason)))
    if detail := _detail(lead):
        blocks.append(Paragraph(text=text(detail)))
    if others := _others(incident):
        blocks.append(Paragraph(text=others))
    if lead.texts:
        blocks.append(Preformatted(lines=lead.texts[:EVIDENCE_LINES]))
    if incident.is_open:
        blocks.append(card_buttons(incident, context))
    blocks.append(Context(text=_foot(incident, context)))
    return Message(
        title=_title(incident),
        color=_color(incident, context),
        blocks=tuple(blocks),
        summary=_summary(incident),
    )


def _title(incident: Incident) -> Text:
    return text("✅ " if not incident.is_open else f"{_MARKS[incident.severity]} ", bold(headline(incident)))


def headline(incident: Incident) -> str:
    """Return the lead alert's summary, and how many more alerts have its name."""
    lead = incident.lead
    alike = [member for member in incident.firing or incident.members if member.name == lead.name]
    more = f" (+{len(alike) - 1} more)" if len(alike) > 1 else ""
    return f"{lead.summary.rstrip('.')}{more}"


def _color(incident: Incident, context: IncidentContext) -> Color:
    if not incident.is_open:
        return Color.GOOD
    return Color.QUIET if context.silenced_until else _COLORS[incident.severity]


def _affected(incident: Incident, context: IncidentContext) -> Text:
    """The affected trainings with their owners, largest first, and the place if the title does not name it."""
    subject = shared_subject(incident)
    place = place_of(subject) or incident.cluster
    is_in_title = all(word.casefold() in headline(incident).casefold() for word in place.split())
    where = text(bold("Where: "), code(place))
    if not incident.impacts:
        on_a_machine = subject.node or subject.rack or subject.pod
        if not on_a_machine:
            return where
        unaffected = text(bold("Affects: "), "no known training")
        return unaffected if is_in_title else text(where, " · ", unaffected)
    shown = joined("; ", (_impact(impact, context) for impact in incident.impacts[:2]))
    more = f" and {len(incident.impacts) - 2} more" if len(incident.impacts) > 2 else ""
    affected = text(bold("Affects: "), shown, more)
    return affected if is_in_title else text(where, " · ", affected)


def _impact(impact: Impact, context: IncidentContext) -> Text:
    """One training, short enough for a line on a phone."""
    gpus = f"{impact.gpus:g} GPUs, " if impact.gpus else ""
    owner = person(context.people.get(impact.owner, ""), impact.owner) if impact.owner else "owner unknown"
    return text(code(impact.training), f" {gpus}", owner)


def _next(incident: Incident, context: IncidentContext) -> Text:
    """The action in progress, the actions done, or what to do next."""
    if not incident.is_open:
        return resolution(incident, context)
    if running := [action for action in context.actions if action.state in ("confirmed", "running")]:
        action = running[-1]
        return text(bold("In progress: "), code(action.line), ", by ", person(action.who, action.who_name))
    if unknown := [action for action in context.actions if action.state == "unknown"]:
        return text(*not_known(unknown[-1]), "; Yardmaster looks again once the cluster answers")
    done = [action for action in context.actions if action.state == "done"]
    if done:
        lines = joined(
            ", ",
            (text(code(action.line), " by ", person(action.who, action.who_name)) for action in done[-2:]),
        )
        return text(bold("Done: "), lines, "; waiting for the alerts to resolve")
    actions = suggested_actions(incident, context.rules)
    if actions:
        return text(bold("Next: "), bold(label_of(actions[0])), _runbook(incident, context))
    return text(
        bold("Next: "), "investigate", _runbook(incident, context) or text("; no action is suggested")
    )


def _runbook(incident: Incident, context: IncidentContext) -> Text:
    if address := runbook_address(incident, context):
        return text(" · ", link(address, "runbook"))
    page = runbook_of(incident, context)
    return text(" · ", code(f"runbook {page}")) if page else ()


def _unseen(incident: Incident, context: IncidentContext) -> Text:
    """Why the incident cannot be seen now: its sources are unavailable, or none of its alerts has data."""
    if not incident.is_open:
        return ()
    if context.blind:
        return text(context.blind)
    since = [member.unseen_since for member in incident.firing if member.unseen_since]
    if not since or len(since) < len(incident.firing):
        return ()
    return text("no data since ", moment(max(since)))


def _detail(lead: Member) -> str:
    return " ".join(lead.description.split())


def _others(incident: Incident) -> Text:
    """The alerts of other rules: one example and a count for each rule."""
    lead = incident.lead
    by_rule: dict[str, list[Member]] = {}
    for member in sorted(
        incident.members, key=lambda member: (not member.is_firing, -member.severity.rank, member.since)
    ):
        if member.name != lead.name:
            by_rule.setdefault(member.name, []).append(member)
    if not by_rule:
        return ()
    shown = [_rule_example(members) for members in list(by_rule.values())[:MEMBERS_SHOWN]]
    more = f"; and {len(by_rule) - len(shown)} more rules" if len(by_rule) > len(shown) else ""
    return text(bold("Also: "), joined("; ", shown), more)


def _rule_example(members: list[Member]) -> str:
    first = members[0]
    mark = "" if first.is_firing else "✓ "
    return f"{mark}{first.summary.rstrip('.')}" + (
        f" (and {len(members) - 1} more)" if len(members) > 1 else ""
    )


def _foot(incident: Incident, context: IncidentContext) -> Text:
    subject = shared_subject(incident)
    rack = f"{subject.rack}, " if subject.rack and subject.rack != place_of(subject) else ""
    parts = text(code(incident.id), f" · {rack}{incident.cluster} · since ", moment(incident.opened_at))
    if incident.acknowledged_by:
        parts = text(
            parts, " · acknowledged by ", person(incident.acknowledged_by, incident.acknowledged_by_name)
        )
    if context.is_silenced_until_over and incident.is_open:
        parts = text(parts, " · silenced until it is over")
    elif context.silenced_until and incident.is_open:
        parts = text(parts, " · silenced until ", moment(context.silenced_until))
    for name, address in context.links.items():
        if (filled_in := fill(address, incident.subject)) is not None:
            parts = text(parts, " · ", link(filled_in, name))
    return parts


def _summary(incident: Incident) -> str:
    if not incident.is_open:
        return f"Resolved: {headline(incident)}"
    return f"{incident.severity.value.upper()}: {headline(incident)}"
