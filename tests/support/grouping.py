"""Grouping of one alert at a time, for tests: what a cycle does with an incident that it has found."""

from datetime import datetime

from alerts.alert import Alert
from alerts.incidents.group_keys import group_key_of
from alerts.incidents.grouping import GroupingContext
from alerts.incidents.incident import Incident
from alerts.incidents.incident_draft import MAX_MEMBERS, IncidentDraft
from collectors.facts.topology import Topology


def add_alert(
    incident: Incident, alert: Alert, grouping: GroupingContext, now: datetime, *, most: int = MAX_MEMBERS
) -> Incident:
    """Return the incident after one of its alerts fired, kept firing or resolved."""
    draft = IncidentDraft(incident, grouping, most=most)
    draft.add(alert, now)
    return draft.incident


def belongs(incident: Incident, alert: Alert, now: datetime) -> bool:
    """Whether the alert is about this incident's object, and the incident is open or its rule ended it just now."""
    grouping = GroupingContext(rules={}, topology=Topology(cluster=incident.cluster))
    is_same = (incident.cluster, incident.group_key) == (alert.cluster, group_key_of(alert))
    return is_same and IncidentDraft(incident, grouping).takes(alert, now)
