"""Words for a parent incident: its headline, what happened to it, and where a member belongs. Pure."""

from collections.abc import Sequence

from alerts.cards.event_words import care_text
from alerts.cards.headline import headline
from alerts.cards.text import Text, bold, text
from alerts.incidents.events import IncidentEvent, IncidentEventType
from alerts.incidents.incident import CALLS, Incident
from alerts.parents.parent_incident import Fired, ParentIncident
from collectors.facts.sentences import Sentence, counted, listed, sentence, word

_PLACES = {  # by the kind of what the nodes have in common
    "rack": "rack {name}",
    "nvlink_domain": "NVLink domain {name}",
    "switch": "switch {name}",
    "cooling_zone": "cooling zone {name}",
    "power_zone": "power zone {name}",
    "zone": "zone {name}",
    "component": "component {name}",
    "training": "training {name}",
    "cluster": "cluster {name}",
}


def place_shown(parent: ParentIncident) -> Sentence:
    """Return what its nodes have in common."""
    return _place(parent.kind, parent.name)


def _place(kind: str, name: str) -> Sentence:
    """Return the place. A name such as `rack-d` says itself what it is."""
    says_it = name.casefold().startswith(kind)
    return sentence("{name}" if says_it else _PLACES.get(kind, "{name}"), name=name)


def likely_cause_said(parent: ParentIncident) -> Text:
    """Return what is likely its cause: the highest place that is hit as a whole, and what broke first."""
    likely = parent.standing.likely
    if likely is None:
        return ()
    first = (
        sentence(
            "first {alert} on {node}, {at} (`{incident}`)",
            alert=likely.alert,
            node=likely.node,
            at=likely.at,
            incident=likely.incident,
        )
        if likely.node
        else sentence(
            "before the nodes broke: {alert}, {at} (`{incident}`)",
            alert=likely.alert,
            at=likely.at,
            incident=likely.incident,
        )
    )
    if not likely.kind:
        return text(first)
    place = _place(likely.kind, likely.name)
    where = counted(
        "{place}, {hit} of its {count} node",
        "{place}, {hit} of its {count} nodes",
        place=place,
        hit=likely.hit,
        count=likely.nodes,
    )
    return text(listed((where, first), ";"))


def stake_said(parent: ParentIncident, on_nodes: int) -> Text:
    """Return what it costs; once it is over, what it cost. `on_nodes`: the GPUs of the nodes that are open."""
    if not parent.is_open:
        hours = round(parent.gpu_hours_until(parent.resolved_at or parent.opened_at))
        said = counted("{count} GPU-hour was at stake", "{count} GPU-hours were at stake", count=hours)
        return text(said) if hours else ()
    gpus = round(parent.standing.at_stake)
    if not gpus:
        return ()
    elsewhere = max(0, gpus - on_nodes)
    here = counted("{count} GPU of these nodes", "{count} GPUs of these nodes", count=on_nodes)
    waiting = counted("{count} GPU waiting for them", "{count} GPUs waiting for them", count=elsewhere)
    parts = [said for said, count in ((here, on_nodes), (waiting, elsewhere)) if count]
    said = counted(
        "{gpus}: {count} GPU-hour is lost each hour",
        "{gpus}: {count} GPU-hours are lost each hour",
        gpus=listed(parts),
        count=gpus,
    )
    return text(said)


def parent_headline(parent: ParentIncident) -> Sentence:
    """Return how many nodes of which place have which alerts, or had them."""
    place, now = place_shown(parent), parent.standing
    if not parent.is_open:
        return counted(
            "{count} node of {place} had alerts",
            "{count} nodes of {place} had alerts",
            count=now.nodes,
            place=place,
        )
    alerts = alerts_said(parent)
    if now.open_nodes < now.nodes:
        return counted(
            "{count} of {nodes} nodes of {place} still has alerts: {alerts}",
            "{count} of {nodes} nodes of {place} still have alerts: {alerts}",
            count=now.open_nodes,
            nodes=now.nodes,
            place=place,
            alerts=alerts,
        )
    return counted(
        "{count} node of {place} has alerts: {alerts}",
        "{count} nodes of {place} have alerts: {alerts}",
        count=now.nodes,
        place=place,
        alerts=alerts,
    )


def alerts_said(parent: ParentIncident) -> Sentence:
    """Return the alerts that fire, each with the number of its nodes; once it is over, those that fired at last."""
    return _alerts(parent.standing.fired, parent.standing.other_alerts)


def _alerts(fired: Sequence[Fired], others: int) -> Sentence:
    said = listed(sentence("{alert} on {number}", alert=one.alert, number=one.nodes) for one in fired)
    if not others:
        return said
    return counted("{alerts} and {count} other", "{alerts} and {count} others", alerts=said, count=others)


def headline_of_any(incident: Incident | ParentIncident) -> str:
    """Return the headline of what a list has."""
    return parent_headline(incident) if isinstance(incident, ParentIncident) else headline(incident)


def parent_summary(parent: ParentIncident) -> Sentence:
    """Return the whole in one sentence, for a notification."""
    said = parent_headline(parent)
    if not parent.is_open:
        return sentence("Resolved: {headline}", headline=said)
    return listed([word(parent.severity.value.upper()), said], ":")


def parent_event(parent: ParentIncident, event: IncidentEvent) -> Text:
    """Return an event as text, for a reply in the card's thread or a line of the history."""
    match event.type:
        case IncidentEventType.OPENED:
            return text("These nodes broke together.")
        case IncidentEventType.SEVERITY_RAISED:
            severity = word(parent.severity.value)
            return text(
                sentence("Severity raised to {alert}", alert=listed([severity, parent_headline(parent)], ":"))
            )
        case IncidentEventType.WORSENED if event.text:  # how it has grown
            return text(listed([event.text, parent_headline(parent)], ":"))
        case IncidentEventType.WORSENED:
            return text(sentence("It got worse: {alert}", alert=parent_headline(parent)))
        case IncidentEventType.REOPENED:
            return text(sentence("Reopened: {alert}", alert=parent_headline(parent)))
        case IncidentEventType.RESOLVED:
            return parent_resolution(parent, event)
        case _:
            return care_text(event)


def parent_reminder(parent: ParentIncident, event: IncidentEvent) -> Text:
    """Return for how long nobody has acknowledged it; empty where somebody has, or a later call was made."""
    calls = [one for one in parent.events if one.type in CALLS]
    if parent.unanswered_since is None or event.number != calls[-1].number:
        return ()
    since = max((one.at for one in calls[:-1]), default=parent.opened_at)
    said = sentence(
        "Nobody has acknowledged this for {lasting}: {headline}",
        lasting=event.at - since,
        headline=parent_headline(parent),
    )
    return text(said)


def parent_resolution(parent: ParentIncident, event: IncidentEvent) -> Text:
    """Return how long it stood until then."""
    beginnings = (IncidentEventType.OPENED, IncidentEventType.REOPENED)
    began = max(
        (one.at for one in parent.events if one.type in beginnings and one.number < event.number),
        default=parent.opened_at,
    )
    resolved = bold(sentence("Resolved"))
    return text(sentence("{resolved} after {lasting}.", resolved=resolved, lasting=event.at - began))


def where_it_belongs(incident: Incident, parent: ParentIncident) -> Text:
    """Return where an incident's news are, for its own card."""
    template = (
        "Part of incident `{parent}` (many nodes of {place}): follow it there."
        if parent.is_open and incident.is_open
        else "It was part of incident `{parent}` (many nodes of {place})."
    )
    return text(sentence(template, parent=incident.parent, place=place_shown(parent)))
