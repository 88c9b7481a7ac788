"""Words for what happened to an incident: for replies in its thread, its history and its card. Pure."""

from datetime import timedelta

from alerts.cards.incident_context import NO_CONTEXT, IncidentAction, IncidentContext
from alerts.cards.proof_text import proved_then, what_proved
from alerts.cards.text import Text, bold, person, text
from alerts.incidents.events import IncidentEvent, IncidentEventType
from alerts.incidents.incident import Incident
from collectors.facts.clock import humanize
from collectors.facts.sentences import Sentence, listed, sentence


def event_text(incident: Incident, event: IncidentEvent, *, context: IncidentContext = NO_CONTEXT) -> Text:
    """Return an event as text, for a reply in the card's thread or a line of the history."""
    who = person(event.who, event.who_name)
    match event.type:
        case IncidentEventType.OPENED:
            return text(sentence("Opened: {alert}", alert=event.text))
        case IncidentEventType.SEVERITY_RAISED:
            return text(sentence("Severity raised to {alert}", alert=event.text))
        case IncidentEventType.WORSENED:
            return text(sentence("It got worse: {alert}", alert=event.text))
        case IncidentEventType.JOINED:
            return text(sentence("It is a part of incident `{parent}`.", parent=event.text))
        case IncidentEventType.REOPENED if event.who:
            return text(sentence("Reopened by {who}: {reason}.", who=who, reason=event.text))
        case IncidentEventType.REOPENED:
            return text(sentence("Reopened: {alert}", alert=event.text))
        case IncidentEventType.RESOLVED:
            return resolution(incident, context)
        case IncidentEventType.ALERT_ADDED:
            return text(sentence("Alert added: {alert}", alert=event.text))
        case IncidentEventType.ALERT_RESOLVED:
            ended = "No longer logged: {alert}" if _is_logged(incident, event) else "Over: {alert}"
            return text(sentence(ended, alert=event.text))
        case IncidentEventType.PROVEN:
            return text(sentence("Proven over: {proof}.", proof=proved_then(incident, event)))
        case IncidentEventType.ACTION_DONE:
            return text(sentence("Done: `{line}` by {who}", line=event.text, who=who))
        case IncidentEventType.TRAINING_FAILED:
            return text(sentence("A training died: {training}", training=event.text))
        case _:
            return care_text(event)


def care_text(event: IncidentEvent) -> Text:
    """Return who takes care of an incident from this event on, whether of one node or of many."""
    who = person(event.who, event.who_name)
    match event.type:
        case IncidentEventType.ACKNOWLEDGED:
            return text(sentence("Acknowledged by {who}.", who=who))
        case IncidentEventType.HANDED_OVER:
            return text(sentence("Handed over to {who} by {giver}.", who=who, giver=event.text))
        case IncidentEventType.GIVEN_BACK:
            return text(sentence("Acknowledgement taken back by {who}.", who=who))
        case IncidentEventType.REMINDED:
            return text(sentence("Repeated in the channel: nobody had acknowledged it."))
        case _:
            return text(event.text)


def _is_logged(incident: Incident, event: IncidentEvent) -> bool:
    """Whether the event is about a log line, of which nobody knows that what it says is over."""
    return any(member.is_logged and member.summary == event.text for member in incident.members)


_UNFINISHED = ("confirmed", "waiting", "running")


def resolution(incident: Incident, context: IncidentContext) -> Text:
    """Return how long the incident stood, what ended it, and what was done meanwhile that cannot have ended it."""
    lasting = (incident.resolved_at or incident.began_at) - incident.began_at
    if gone := sorted({member.ended_reason for member in incident.members if member.ended_reason}):
        return text(listed([_resolved(lasting, listed(gone)), *_again(incident)], "."))
    done = [action for action in context.actions if action.state == "done"]
    fixes = [action for action in done if action.explains(incident)]
    others = [action for action in done if action not in fixes]
    unknown = [action for action in context.actions if action.state == "unknown"]
    unfinished = [action for action in context.actions if action.state in _UNFINISHED]
    said: list[Sentence] = []
    if fixes:
        said.append(sentence("Fixed by {actions}.", actions=listed(map(done_by, fixes))))
    if others:
        said.append(sentence("Meanwhile: {actions}.", actions=listed(map(done_by, others))))
    if unknown and not fixes:
        said.append(sentence("{said}.", said=not_known(unknown[-1])))
    if unfinished:
        said.append(sentence("Not finished yet: {actions}.", actions=listed(map(done_by, unfinished))))
    if not said:
        said.append(sentence("No action was taken through Yardmaster."))
    return text(listed([_resolved(lasting, what_proved(incident)), *said, *_again(incident)], "."))


def ended_before(incident: Incident, event: IncidentEvent) -> Text:
    """Return how long an incident had lasted when it was resolved, before it was reopened: nothing else is known."""
    beginnings = (IncidentEventType.OPENED, IncidentEventType.REOPENED)
    began = [one.at for one in incident.events if one.type in beginnings and one.number < event.number]
    lasted = event.at - max(began, default=incident.opened_at)
    return text(_resolved(lasted))


def _resolved(lasting: timedelta, why: Text | Sentence = ()) -> Sentence:
    word = bold(sentence("Resolved"))
    if not why:
        return sentence("{resolved} after {lasting}.", resolved=word, lasting=lasting)
    return sentence("{resolved} after {lasting}: {why}.", resolved=word, lasting=lasting, why=why)


def done_by(action: IncidentAction) -> Sentence:
    """Return the line of an action, and whose it was."""
    return sentence("`{line}` by {who}", line=action.line, who=person(action.who, action.who_name))


def _again(incident: Incident) -> list[Sentence]:
    again = repeated(incident)
    return [sentence("It happened {again}.", again=again)] if again else []


def repeated(incident: Incident) -> str:
    """Return text like `2 times in 20 min, 3 min in all`; empty for the first time."""
    if incident.times < 2:
        return ""
    ended = incident.resolved_at or incident.began_at
    within = humanize(ended - incident.opened_at, parts=1)
    in_all = humanize(incident.lasted(ended), parts=1)
    return sentence(
        "{times} times in {within}, {in_all} in all", times=incident.times, within=within, in_all=in_all
    )


def earlier(incident: Incident) -> Text:
    """Return the earlier incident of the same object, which ended not long before this one."""
    if not incident.earlier or incident.earlier_ended_at is None:
        return ()
    same = "same as `{incident}`, resolved {at}"
    other = "before it on the same object: `{incident}`, resolved {at}"
    template = same if incident.is_repeat else other
    return text(sentence(template, incident=incident.earlier, at=incident.earlier_ended_at))


def not_known(action: IncidentAction) -> Sentence:
    """Return that nobody knows whether an action was done."""
    return sentence(
        "{not_known} whether `{line}` was done, by {who}",
        not_known=bold(sentence("Not known")),
        line=action.line,
        who=person(action.who, action.who_name),
    )
