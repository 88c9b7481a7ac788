"""Outages of nodes: how often they broke and for how long, according to their incidents. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from alerts.incidents.events import IncidentEventType
from alerts.incidents.incident import Incident
from alerts.rules import Severity

OFTEN = 3  # outages of one node after which it is a repeat offender

_BEGINNINGS = frozenset({IncidentEventType.OPENED, IncidentEventType.REOPENED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """A node that was broken from one moment to another. `ended` is None while it is; `name` is the alert's."""

    node: str
    name: str
    incident: str
    began: datetime
    ended: datetime | None


def outages_of(incidents: Iterable[Incident]) -> list[Outage]:
    """Return the outages of nodes, the oldest first: each critical incident, and each time that it was reopened.

    A training that crashed broke no node.
    """
    found = [
        outage
        for incident in incidents
        if incident.subject.node and not incident.crash_of and incident.severity is Severity.CRITICAL
        for outage in _of_incident(incident)
    ]
    return sorted(found, key=lambda one: (one.began, one.node))


def _of_incident(incident: Incident) -> list[Outage]:
    found: list[Outage] = []
    began: datetime | None = None
    for event in incident.events:
        if event.type in _BEGINNINGS:
            began = event.at
        elif event.type is IncidentEventType.RESOLVED and began is not None:
            found.append(_outage(incident, began, event.at))
            began = None
    if began is not None:
        found.append(_outage(incident, began, None))
    return found


def _outage(incident: Incident, began: datetime, ended: datetime | None) -> Outage:
    return Outage(
        node=incident.subject.node, name=incident.lead.name, incident=incident.id, began=began, ended=ended
    )


def median_repairs(outages: Iterable[Outage]) -> Mapping[str, timedelta]:
    """Return how long an outage stood, by the alert's name: the median of those that have ended, the longest first."""
    lasted: defaultdict[str, list[float]] = defaultdict(list)
    for one in outages:
        if one.ended is not None:
            lasted[one.name].append((one.ended - one.began).total_seconds())
    found = {name: timedelta(seconds=median(times)) for name, times in lasted.items()}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
