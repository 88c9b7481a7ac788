"""What happened to an incident, in words: for replies in its thread, its history and its card. Pure."""

from alerts.cards.incident_context import NO_CONTEXT, IncidentAction, IncidentContext
from alerts.cards.proof_text import proved_then, what_proved
from alerts.cards.text import Text, bold, code, joined, moment, person, text
from alerts.incidents.events import IncidentEvent, IncidentEventType
from alerts.incidents.incident import Incident
from collectors.facts.clock import humanize

_ORDINALS = {1: "1st", 2: "2nd", 3: "3rd"}


def event_text(incident: Incident, event: IncidentEvent, *, context: IncidentContext = NO_CONTEXT) -> Text:
    """Return an event as text, for a reply in the card's thread or a line of the history."""
    match event.type:
        case IncidentEventType.OPENED:
            return text("Opened: ", event.text)
        case IncidentEventType.SEVERITY_RAISED:
            return text("Severity raised to ", event.text)
        case IncidentEventType.ACKNOWLEDGED:
            return text("Acknowledged by ", person(event.who, event.who_name), ".")
        case IncidentEventType.HANDED_OVER:
            return text("Handed over to ", person(event.who, event.who_name), f" by {event.text}.")
        case IncidentEventType.GIVEN_BACK:
            return text("Acknowledgement taken back by ", person(event.who, event.who_name), ".")
        case IncidentEventType.REOPENED:
            return text("Reopened: ", event.text)
        case IncidentEventType.RESOLVED:
            return resolution(incident, context)
        case IncidentEventType.ALERT_ADDED:
            return text("Alert added: ", event.text)
        case IncidentEventType.ALERT_RESOLVED:
            return text("No longer logged: " if _is_logged(incident, event) else "Over: ", event.text)
        case IncidentEventType.PROVEN:
            return text("Proven over: ", proved_then(incident, event), ".")
        case IncidentEventType.ACTION_DONE:
            return text("Done: ", code(event.text), " by ", person(event.who, event.who_name))
        case IncidentEventType.TRAINING_FAILED:
            return text("A training died: ", event.text)


def _is_logged(incident: Incident, event: IncidentEvent) -> bool:
    """Whether the event is about a log line, of which nobody knows that what it says is over."""
    return any(member.is_logged and member.summary == event.text for member in incident.members)


def resolution(incident: Incident, context: IncidentContext) -> Text:
    """Return how long the incident stood, what ended it, and what was done meanwhile that cannot have ended it."""
    resolved = text(bold("Resolved"), f" after {_duration(incident)}")
    if proof := what_proved(incident):
        resolved = text(resolved, ": ", proof)
    if gone := sorted({member.ended_reason for member in incident.members if member.ended_reason}):
        return text(resolved, f": {', '.join(gone)}.", _again(incident))
    done = [action for action in context.actions if action.state == "done"]
    fixes = [action for action in done if action.explains(incident)]
    others = [action for action in done if action not in fixes]
    unknown = [action for action in context.actions if action.state == "unknown"]
    said: list[Text] = []
    if fixes:
        said.append(text(" Fixed by ", _lines(fixes), "."))
    if others:
        said.append(text(" Meanwhile: ", _lines(others), "."))
    if unknown and not fixes:
        said.append(text(" ", *not_known(unknown[-1]), "."))
    if not said:
        said.append(text(" No action was taken through Yardmaster."))
    return text(resolved, ".", *said, _again(incident))


def ended_before(incident: Incident, event: IncidentEvent) -> Text:
    """Return how long an incident had stood that was resolved then, and was reopened since: no more is known of it."""
    beginnings = (IncidentEventType.OPENED, IncidentEventType.REOPENED)
    began = [one.at for one in incident.events if one.type in beginnings and one.number < event.number]
    lasted = event.at - max(began, default=incident.opened_at)
    return text(bold("Resolved"), f" after {humanize(lasted)}", ".")


def _lines(actions: list[IncidentAction]) -> Text:
    return joined(
        ", ", (text(code(action.line), " by ", person(action.who, action.who_name)) for action in actions)
    )


def _duration(incident: Incident) -> str:
    return humanize((incident.resolved_at or incident.began_at) - incident.began_at)


def _again(incident: Incident) -> Text:
    again = repeated(incident)
    return text(f" It was the {again}.") if again else ()


def repeated(incident: Incident) -> str:
    """Return the like of `2nd time in 20 min, 3 min in all`; empty for the first time."""
    if incident.times < 2:
        return ""
    ended = incident.resolved_at or incident.began_at
    within = humanize(ended - incident.opened_at, parts=1)
    ordinal = _ORDINALS.get(incident.times, f"{incident.times}th")
    in_all = humanize(incident.lasted(ended), parts=1)
    return f"{ordinal} time in {within}, {in_all} in all"


def earlier(incident: Incident) -> Text:
    """Return the earlier incident of the same object, which ended not long before this one."""
    if not incident.earlier or incident.earlier_ended_at is None:
        return ()
    word = "same as " if incident.is_repeat else "before it on the same object: "
    return text(word, code(incident.earlier), ", resolved ", moment(incident.earlier_ended_at))


def not_known(action: IncidentAction) -> Text:
    """Return that nobody knows whether an action was done."""
    who = person(action.who, action.who_name)
    return text(bold("Not known"), " whether ", code(action.line), " was done, by ", who)
