"""Incidents and their messages, for tests of channels."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from alerts.alert import Alert
from alerts.cards.desired_cards import desired_replies
from alerts.cards.headline import headline
from alerts.cards.incident_card import incident_card
from alerts.cards.incident_context import NO_CONTEXT, IncidentContext
from alerts.cards.incident_facts import incident_facts
from alerts.cards.message import Color, Message
from alerts.cards.posted import PostedCard, ThreadReply
from alerts.cards.reply_words import worded
from alerts.cards.text import bold, text
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from alerts.lifecycle import AlertState
from collectors.facts.topology import Topology
from tests.support.grouping import add_alert
from tests.support.rows import NOON, an_alert

GROUPING = GroupingContext(rules={}, topology=Topology(cluster="lab"))


def an_open_incident(*alerts: Alert, id: str = "i1", channels: tuple[str, ...] = ("slack:C1",)) -> Incident:
    """Return the incident that these alerts, or one about gpu-a04, are grouped into."""
    all_ = alerts or (an_alert("gpu-a04"),)
    incident = open_incident(id, all_[0], channels=channels, now=NOON)
    for alert in all_:
        incident = add_alert(incident, alert, GROUPING, NOON)
    return incident


def replies_to(
    incident: Incident, cards: Sequence[PostedCard], context: IncidentContext = NO_CONTEXT
) -> list[ThreadReply]:
    """Return the replies that the incident calls for, with their words."""
    return [worded(reply, incident, context) for reply in desired_replies(incident, cards)]


def resolved(incident: Incident, after: timedelta = timedelta(minutes=5)) -> Incident:
    """Return the incident after all its alerts have resolved."""
    at = NOON + after
    over = tuple(replace(one, state=AlertState.RESOLVED, resolved_at=at) for one in incident.members)
    return replace(incident, members=over, resolved_at=at)


def message_of(incident: Incident, *alerts: Alert, context: IncidentContext = NO_CONTEXT) -> Message:
    """Return the message of an incident's card, with its facts."""
    rows = {alert.id: alert for alert in alerts}
    facts = incident_facts(incident, rows, title=headline(incident), links=context.links)
    return replace(incident_card(incident, context=context, now=NOON), facts=facts)


def an_incident_message(
    title: str, *, group: str = "node/gpu-a04", is_open: bool = True, color: Color = Color.CRITICAL
) -> Message:
    """Return a message of this title with facts."""
    incident = replace(an_open_incident(), group_key=group)
    message = message_of(incident if is_open else resolved(incident))
    assert message.facts is not None
    return replace(
        message,
        title=text(bold(title)),
        summary=title,
        color=color,
        facts=replace(message.facts, title=title),
    )
