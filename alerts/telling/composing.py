"""This file composes an incident's card: what, where, who is hurt and what to do, in the first three lines. Pure."""

from datetime import datetime

from alerts.incidents.folding import place_of, shared_subject
from alerts.incidents.incident import Event, Happening, Hurt, Incident, Member
from alerts.rules import Severity
from alerts.telling.offers import filled, label_of, offers_of
from alerts.telling.surroundings import NOTHING, Surroundings
from alerts.telling.views import (
    Block,
    Button,
    Buttons,
    ButtonStyle,
    Paragraph,
    Quote,
    Small,
    Text,
    Tone,
    View,
    bold,
    code,
    joined,
    link,
    moment,
    person,
    text,
)
from collectors.facts.durations import in_words

EVIDENCE_LINES = 4
BUTTONS_AT_MOST = 5
MEMBERS_SHOWN = 5

_UNDER_WAY = frozenset({"confirmed", "running", "done"})
_TONES = {Severity.CRITICAL: Tone.CRITICAL, Severity.WARNING: Tone.WARNING, Severity.INFO: Tone.INFO}
_MARKS = {Severity.CRITICAL: "🔴", Severity.WARNING: "🟠", Severity.INFO: "🔵"}


def incident_view(incident: Incident, *, around: Surroundings = NOTHING, now: datetime) -> View:
    """The card of an incident as it stands."""
    lead = incident.lead
    blocks: list[Block] = [
        Paragraph(text=_hurt(incident, around)),
        Paragraph(text=_next(incident, around)),
    ]
    if why := _unseen(incident, around):
        blocks.append(Paragraph(text=text("⚪ ", bold("Cannot see it now: "), why)))
    if detail := _detail(lead):
        blocks.append(Paragraph(text=text(detail)))
    if others := _others(incident):
        blocks.append(Paragraph(text=others))
    if lead.texts:
        blocks.append(Quote(lines=lead.texts[:EVIDENCE_LINES]))
    if incident.is_open and (buttons := _buttons(incident, around)):
        blocks.append(Buttons(buttons=buttons))
    blocks.append(Small(text=_foot(incident, around)))
    return View(
        title=_title(incident),
        tone=_tone(incident, around),
        blocks=tuple(blocks),
        summary=_in_short(incident),
    )


def event_line(incident: Incident, event: Event, *, around: Surroundings = NOTHING) -> Text:
    """An event in words: the line that it appends to the card's thread, or a line of the history."""
    match event.what:
        case Happening.OPENED:
            return text("Opened: ", event.text)
        case Happening.WORSE:
            return text("Worse, now ", event.text)
        case Happening.ACKED:
            return text(person(event.who, event.who_name), " has taken it.")
        case Happening.REOPENED:
            return text("It is back: ", event.text)
        case Happening.RESOLVED:
            return _ended(incident, around)
        case Happening.JOINED:
            return text("Also: ", event.text)
        case Happening.CLEARED:
            return text("Cleared: ", event.text)
        case Happening.DEED:
            return text("Done: ", code(event.text), " by ", person(event.who, event.who_name))


def _title(incident: Incident) -> Text:
    return text("✅ " if not incident.is_open else f"{_MARKS[incident.severity]} ", bold(headline(incident)))


def headline(incident: Incident) -> str:
    """The lead's words, and how many more of its kind there are."""
    lead = incident.lead
    alike = [one for one in incident.firing or incident.members if one.name == lead.name]
    more = f" (+{len(alike) - 1} more)" if len(alike) > 1 else ""
    return f"{lead.summary.rstrip('.')}{more}"


def _tone(incident: Incident, around: Surroundings) -> Tone:
    if not incident.is_open:
        return Tone.GOOD
    return Tone.QUIET if around.silenced_until else _TONES[incident.severity]


def _hurt(incident: Incident, around: Surroundings) -> Text:
    """Who is hurt: the trainings on it, with their owners, the largest first; and where, if the title does not say."""
    subject = shared_subject(incident)
    place = place_of(subject) or incident.cluster
    is_in_title = all(word.casefold() in headline(incident).casefold() for word in place.split())
    where = text(bold("Where: "), code(place))
    if not incident.hurt:
        on_a_machine = subject.node or subject.rack or subject.pod
        if not on_a_machine:
            return where
        nobody = text(bold("Hurts: "), "no training that we know of")
        return nobody if is_in_title else text(where, " · ", nobody)
    shown = joined(", ", (_one_hurt(hurt, around) for hurt in incident.hurt[:2]))
    more = f" and {len(incident.hurt) - 2} more" if len(incident.hurt) > 2 else ""
    hurts = text(bold("Hurts: "), shown, more)
    return hurts if is_in_title else text(where, " · ", hurts)


def _one_hurt(hurt: Hurt, around: Surroundings) -> Text:
    gpus = f"{hurt.gpus:g} GPUs, " if hurt.gpus else ""
    if not hurt.owner:
        return text(code(hurt.training), f" ({gpus}owner unknown)")
    return text(code(hurt.training), f" ({gpus}", person(around.people.get(hurt.owner, ""), hurt.owner), ")")


def _next(incident: Incident, around: Surroundings) -> Text:
    """What to do next, or what was done."""
    if not incident.is_open:
        return _ended(incident, around)
    if running := [deed for deed in around.deeds if deed.state in ("confirmed", "running")]:
        deed = running[-1]
        return text(bold("Now: "), code(deed.line), ", by ", person(deed.who, deed.who_name))
    done = [deed for deed in around.deeds if deed.state == "done"]
    if done:
        told = joined(
            ", ", (text(code(deed.line), " by ", person(deed.who, deed.who_name)) for deed in done[-2:])
        )
        return text(bold("Done: "), told, "; waiting for it to clear")
    offers = offers_of(incident, around.rules)
    if offers:
        return text(bold("Next: "), bold(label_of(offers[0])), _runbook(incident, around))
    return text(
        bold("Next: "), "look into it", _runbook(incident, around) or text(", there is nothing to press")
    )


def _runbook(incident: Incident, around: Surroundings) -> Text:
    rule = around.rules.get(incident.lead.rule)
    if rule is None or not rule.words.runbook:
        return ()
    page = rule.words.runbook
    if page.startswith(("http://", "https://")):
        return text(" · ", link(page, "runbook"))
    return (
        text(" · ", link(f"{around.runbooks}{page}.md", "runbook"))
        if around.runbooks
        else text(f" · runbook {page}")
    )


def _unseen(incident: Incident, around: Surroundings) -> Text:
    """Why nobody knows how it is now: its sources are away, or nothing reports on what its alerts speak of."""
    if not incident.is_open:
        return ()
    if around.blind:
        return text(around.blind)
    since = [member.unseen_since for member in incident.firing if member.unseen_since]
    if not since or len(since) < len(incident.firing):
        return ()
    return text("nothing reports on it since ", moment(max(since)))


def _ended(incident: Incident, around: Surroundings) -> Text:
    lasted = in_words(incident.lasted(incident.resolved_at or incident.opened_at))
    if gone := sorted({member.ended_reason for member in incident.members if member.ended_reason}):
        return text(bold("Resolved"), f" after {lasted}: {', '.join(gone)}.")
    done = [deed for deed in around.deeds if deed.state == "done"]
    if not done:
        return text(bold("Resolved"), f" after {lasted}; it cleared without a deed of ours.")
    told = joined(", ", (text(code(deed.line), " by ", person(deed.who, deed.who_name)) for deed in done))
    return text(bold("Resolved"), f" after {lasted}. Fixed by ", told, ".")


def _detail(lead: Member) -> str:
    return " ".join(lead.description.split())


def _others(incident: Incident) -> Text:
    """The other rules that speak of it, each with one example and how many."""
    lead = incident.lead
    by_rule: dict[str, list[Member]] = {}
    for member in sorted(
        incident.members, key=lambda one: (not one.is_firing, -one.severity.rank, one.since)
    ):
        if member.name != lead.name:
            by_rule.setdefault(member.name, []).append(member)
    if not by_rule:
        return ()
    told = [_of_one_rule(members) for members in list(by_rule.values())[:MEMBERS_SHOWN]]
    more = f"; and {len(by_rule) - len(told)} more kinds" if len(by_rule) > len(told) else ""
    return text(bold("Also: "), joined("; ", told), more)


def _of_one_rule(members: list[Member]) -> str:
    first = members[0]
    mark = "" if first.is_firing else "✓ "
    return f"{mark}{first.summary.rstrip('.')}" + (
        f" (and {len(members) - 1} more)" if len(members) > 1 else ""
    )


def _buttons(incident: Incident, around: Surroundings) -> tuple[Button, ...]:
    offers: dict[str, str] = {}
    done = {label_of(deed.line) for deed in around.deeds if deed.state in _UNDER_WAY}
    for line in offers_of(incident, around.rules):
        if label_of(line) not in done:
            offers.setdefault(label_of(line), line)  # two rules may offer the same deed for different reasons
    buttons = [
        Button(label=label, line=line, style=ButtonStyle.PRIMARY if number == 0 else ButtonStyle.PLAIN)
        for number, (label, line) in enumerate(list(offers.items())[: BUTTONS_AT_MOST - 2])
    ]
    if not incident.acked_by:
        buttons.append(Button(label="I take it", line=f"alert ack {incident.id}"))
    buttons.append(Button(label="Why?", line=f"alert why {incident.id}"))
    return tuple(buttons)


def _foot(incident: Incident, around: Surroundings) -> Text:
    subject = shared_subject(incident)
    rack = f"{subject.rack}, " if subject.rack and subject.rack != place_of(subject) else ""
    parts = text(code(incident.id), f" · {rack}{incident.cluster} · since ", moment(incident.opened_at))
    if incident.acked_by:
        parts = text(parts, " · taken by ", person(incident.acked_by, incident.acked_by_name))
    if around.silenced_until and incident.is_open:
        parts = text(parts, " · silenced until ", moment(around.silenced_until))
    for name, address in around.links.items():
        if (filled_in := filled(address, incident.subject)) is not None:
            parts = text(parts, " · ", link(filled_in, name))
    return parts


def _in_short(incident: Incident) -> str:
    if not incident.is_open:
        return f"Resolved: {headline(incident)}"
    return f"{incident.severity.value.upper()}: {headline(incident)}"
