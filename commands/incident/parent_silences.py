"""The silences of a parent incident: those of itself, or of the alerts of each of its members."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from alerts.alert import Alert
from alerts.cards.parent_card import ParentContext
from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.silences import Silence
from alerts.store import StoreSnapshot
from commands.incident.card_context import active, silenced_until


async def parent_context(
    parent: ParentIncident,
    members: Sequence[Incident],
    snapshot: StoreSnapshot,
    *,
    people: Mapping[str, str],
    now: datetime,
) -> ParentContext:
    """Return until when all of the parent is silenced, and by what."""
    silences = active(await snapshot.rows(Silence).find(cluster=parent.cluster), now)
    if covering := [one for one in silences if one.covers_incident(parent, now)]:
        last = max(covering, key=lambda one: one.ends_at)
        return ParentContext(
            people=people,
            silenced_until=last.ends_at,
            silence=last.id,
            is_silenced_until_over=any(one.is_until_over for one in covering),
        )
    live = [one for one in members if one.is_open] if silences else []
    alerts = await snapshot.rows(Alert).get_all(member.alert for one in live for member in one.members)
    ends = [silenced_until(one, alerts, silences, now=now) for one in live]
    is_silenced = bool(ends) and None not in ends
    return ParentContext(people=people, silenced_until=min(filter(None, ends)) if is_silenced else None)
