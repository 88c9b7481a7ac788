"""The words of a reply in the thread of an incident's card, as of now. Pure."""

from dataclasses import replace

from alerts.cards.desired_cards import BROADCAST
from alerts.cards.event_words import ended_before, event_text, repeated
from alerts.cards.headline import headline
from alerts.cards.incident_buttons import card_buttons
from alerts.cards.incident_card import card_color, first_lines
from alerts.cards.incident_context import IncidentContext
from alerts.cards.posted import ThreadReply
from alerts.cards.text import Span, Text, joined, text
from alerts.incidents.events import NOTIFYING, IncidentEvent, IncidentEventType
from alerts.incidents.incident import CALLS, Incident
from collectors.facts.sentences import listed, sentence, word

REPLY_BUTTONS = 3  # the rest is on the card


def worded(reply: ThreadReply, incident: Incident, context: IncidentContext) -> ThreadReply:
    """Return the reply with its words. Those of an event that the incident no longer has are empty.

    One that is broadcast stands alone in the channel, so it has the first lines of the card and its buttons, unless
    something else has happened since.
    """
    event = next((event for event in incident.events if event.number == reply.event), None)
    if event is None:
        return reply
    if event.type is IncidentEventType.REMINDED:
        return _reminder(reply, incident, event, context)
    latest = max(event.number for event in incident.events if event.type in NOTIFYING)
    if event.type in BROADCAST and event.number == latest and incident.is_open:
        buttons = card_buttons(incident, context).buttons[:REPLY_BUTTONS]
        said, color = _broadcast(incident, event, context), card_color(incident, context)
        return replace(reply, text=said, buttons=buttons, color=color)
    if event.type is IncidentEventType.RESOLVED and _is_reopened_after(incident, event):
        return replace(reply, text=ended_before(incident, event))
    return replace(reply, text=event_text(incident, event, context=context))


def _reminder(
    reply: ThreadReply, incident: Incident, event: IncidentEvent, context: IncidentContext
) -> ThreadReply:
    """Return the reminder with its words; without any where somebody has acknowledged the incident meanwhile."""
    calls = [one for one in incident.events if one.type in CALLS]
    if incident.unanswered_since is None or event.number != calls[-1].number:
        return reply
    since = max((one.at for one in calls[:-1]), default=incident.opened_at)
    said = sentence(
        "Nobody has acknowledged this for {lasting}: {headline}",
        lasting=event.at - since,
        headline=headline(incident),
    )
    buttons = card_buttons(incident, context).buttons
    answers = [one for one in buttons if one.line.startswith("alert ack ")]
    others = [one for one in buttons if one not in answers][: REPLY_BUTTONS - len(answers)]
    lines = joined(Span("\n"), (text(said), *first_lines(incident, context)))
    return replace(reply, text=lines, buttons=(*answers, *others), color=card_color(incident, context))


def _is_reopened_after(incident: Incident, event: IncidentEvent) -> bool:
    return any(
        one.type is IncidentEventType.REOPENED and one.number > event.number for one in incident.events
    )


def _broadcast(incident: Incident, event: IncidentEvent, context: IncidentContext) -> Text:
    if event.type is IncidentEventType.REOPENED and event.who:  # `text` is the reason
        said = event_text(incident, event, context=context)
        return joined(Span("\n"), (said, text(headline(incident)), *first_lines(incident, context)))
    said = event_text(incident, replace(event, text=_of_all(incident, event)), context=context)
    again = repeated(incident)
    lines = (
        text(sentence("{said} ({again})", said=said, again=again)) if again else said,
        *first_lines(incident, context),
    )
    return joined(Span("\n"), lines)


def _of_all(incident: Incident, event: IncidentEvent) -> str:
    """Return the event's text for the whole incident, as its card says it, instead of for one alert."""
    said = headline(incident)
    if event.type is IncidentEventType.SEVERITY_RAISED:
        return listed([word(incident.severity.value), said], ":")
    return said
