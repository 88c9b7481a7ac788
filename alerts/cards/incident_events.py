"""What happened to an incident, in words: for replies in its thread, its history and its card. Pure."""

from alerts.cards.incident_context import NO_CONTEXT, IncidentAction, IncidentContext
from alerts.cards.message import Text, bold, code, joined, person, text
from alerts.incidents.incident import Incident, IncidentEvent, IncidentEventType
from collectors.facts.clock import humanize


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
            return text("Alert resolved: ", event.text)
        case IncidentEventType.ACTION_DONE:
            return text("Done: ", code(event.text), " by ", person(event.who, event.who_name))


def resolution(incident: Incident, context: IncidentContext) -> Text:
    """Return how long the incident lasted, and what ended it."""
    lasted = humanize(incident.lasted(incident.resolved_at or incident.opened_at))
    if gone := sorted({member.ended_reason for member in incident.members if member.ended_reason}):
        return text(bold("Resolved"), f" after {lasted}: {', '.join(gone)}.")
    done = [action for action in context.actions if action.state == "done"]
    if not done and (unknown := [action for action in context.actions if action.state == "unknown"]):
        return text(bold("Resolved"), f" after {lasted}. ", *not_known(unknown[-1]), ".")
    if not done:
        return text(bold("Resolved"), f" after {lasted}. No action was taken through Yardmaster.")
    lines = joined(
        ", ", (text(code(action.line), " by ", person(action.who, action.who_name)) for action in done)
    )
    return text(bold("Resolved"), f" after {lasted}. Fixed by ", lines, ".")


def not_known(action: IncidentAction) -> Text:
    """Return that nobody knows whether an action was done."""
    who = person(action.who, action.who_name)
    return text(bold("Not known"), " whether ", code(action.line), " was done, by ", who)
