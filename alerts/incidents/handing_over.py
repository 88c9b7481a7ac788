"""Who works on an incident: handing it over, and giving it back. Pure."""

from dataclasses import replace
from datetime import datetime

from alerts.incidents.events import IncidentEventType
from alerts.incidents.incident import Incident


def hand_over(incident: Incident, *, to: str, to_name: str, by_name: str, now: datetime) -> Incident:
    """Return the incident as acknowledged by another person, to whom somebody handed it."""
    handed = replace(
        incident,
        acknowledged_by=to,
        acknowledged_by_name=to_name,
        acknowledged_at=incident.acknowledged_at or now,
    )
    return handed.with_event(IncidentEventType.HANDED_OVER, now, text=by_name, who=to, who_name=to_name)


def give_back(incident: Incident, *, who: str, who_name: str, now: datetime) -> Incident:
    """Return the incident as acknowledged by nobody."""
    returned = replace(incident, acknowledged_by="", acknowledged_by_name="", acknowledged_at=None)
    return returned.with_event(IncidentEventType.GIVEN_BACK, now, who=who, who_name=who_name)
