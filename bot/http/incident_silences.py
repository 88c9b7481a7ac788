"""Silences of whole incidents, by the alerts that they cover: Alertmanager's API knows no incidents."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from alerts.incidents.incident import Incident
from alerts.incidents.member_rows import whole_ones
from alerts.silences import Silence
from alerts.store import StoreSnapshot


async def incident_silences(
    silences: Sequence[Silence], snapshot: StoreSnapshot, now: datetime
) -> Mapping[str, Sequence[str]]:
    """Return the ids of the silences that cover the incident of an alert, or its parent, by the alert's id."""
    of_incidents = [one for one in silences if one.incident]
    if not of_incidents:
        return {}
    open_ones = await snapshot.rows(Incident).find(state="open")
    covered = [one for one in open_ones if any(silence.covers_incident(one, now) for silence in of_incidents)]
    found: dict[str, list[str]] = {}
    for incident in await whole_ones(covered, snapshot):
        ids = [silence.id for silence in of_incidents if silence.covers_incident(incident, now)]
        for member in incident.members:
            for alert in filter(None, (member.alert, member.twin)):
                found.setdefault(alert, []).extend(ids)
    return found
