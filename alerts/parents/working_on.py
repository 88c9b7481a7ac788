"""Acknowledgements of a parent incident: its open members go with it, but for those that somebody else has. Pure."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from alerts.incidents.events import IncidentEventType
from alerts.incidents.grouping import acknowledge, give_back, hand_over
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident

Followed = tuple[ParentIncident, list[Incident]]  # the parent, and the members that follow it


def acknowledge_all(
    parent: ParentIncident, members: Iterable[Incident], *, who: str, who_name: str, now: datetime
) -> Followed:
    """Acknowledge the parent, and with it the members that nobody has or that went with it before."""
    acknowledged = replace(
        parent, acknowledged_by=who, acknowledged_by_name=who_name, acknowledged_at=now
    ).with_event(IncidentEventType.ACKNOWLEDGED, now, who=who, who_name=who_name)
    followers = [
        one for one in members if one.is_open and one.acknowledged_by in ("", parent.acknowledged_by)
    ]
    return acknowledged, [acknowledge(one, who=who, who_name=who_name, now=now) for one in followers]


def hand_over_all(
    parent: ParentIncident,
    members: Iterable[Incident],
    *,
    to: str,
    to_name: str,
    by_name: str,
    now: datetime,
) -> Followed:
    """Hand the parent over, and with it the members that nobody has or that went with it before."""
    handed = replace(
        parent,
        acknowledged_by=to,
        acknowledged_by_name=to_name,
        acknowledged_at=parent.acknowledged_at or now,
    ).with_event(IncidentEventType.HANDED_OVER, now, text=by_name, who=to, who_name=to_name)
    followers = [
        one for one in members if one.is_open and one.acknowledged_by in ("", parent.acknowledged_by)
    ]
    return handed, [hand_over(one, to=to, to_name=to_name, by_name=by_name, now=now) for one in followers]


def give_all_back(
    parent: ParentIncident, members: Iterable[Incident], *, who: str, who_name: str, now: datetime
) -> Followed:
    """Take the acknowledgement of the parent back, and that of the members which went with it."""
    returned = replace(parent, acknowledged_by="", acknowledged_by_name="", acknowledged_at=None).with_event(
        IncidentEventType.GIVEN_BACK, now, who=who, who_name=who_name
    )
    followers = [one for one in members if one.is_open and one.acknowledged_by == parent.acknowledged_by]
    return returned, [give_back(one, who=who, who_name=who_name, now=now) for one in followers]
