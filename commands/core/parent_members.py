"""Parent incidents in the store: the one that is named, its members, and the cards that speak for them."""

import asyncio
from collections.abc import Sequence

from alerts.cards.posted import CardKind, PostedCard
from alerts.incidents.impacts import ordered
from alerts.incidents.incident import Impact, Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.store import StoreSnapshot

PAGE = 100  # incidents read at a time: others run between


async def parent_named(name: str, snapshot: StoreSnapshot) -> ParentIncident | None:
    """Return the parent with that id; None if it is not one's."""
    return await snapshot.rows(ParentIncident).get(name.lower())


async def open_parents(cluster: str, snapshot: StoreSnapshot) -> Sequence[ParentIncident]:
    return await snapshot.rows(ParentIncident).find(cluster=cluster, state="open")


async def open_ones(cluster: str, snapshot: StoreSnapshot) -> Sequence[Incident | ParentIncident]:
    """Return what is open, for a list: the parents, and the incidents that are a part of none."""
    incidents = await snapshot.rows(Incident).find(cluster=cluster, state="open", parent="")
    return [*await open_parents(cluster, snapshot), *incidents]


async def cards_about(incident: str, snapshot: StoreSnapshot) -> Sequence[PostedCard]:
    """Return the cards that speak for an incident or a parent: its own, or those of its parent."""
    known = await snapshot.rows(Incident).get(incident)
    if known is not None and not known.parent:
        return await snapshot.rows(PostedCard).find(kind=CardKind.INCIDENT.value, row_id=incident)
    parent = incident if known is None else known.parent
    return await snapshot.rows(PostedCard).find(kind=CardKind.PARENT.value, row_id=parent)


async def members_of(parent: ParentIncident, snapshot: StoreSnapshot) -> list[Incident]:
    """Return all members, in the order in which they began."""
    rows, found, after = snapshot.rows(Incident), list[Incident](), ""
    while page := await rows.find(parent=parent.id, limit=PAGE, after=after):
        found += page
        if len(page) < PAGE:
            break
        after = page[-1].id
        await asyncio.sleep(0)
    return found


def all_in_one(parent: ParentIncident, members: Sequence[Incident]) -> Incident:
    """Return the parent as an incident that has the alerts of its members, for what programs read."""
    impacts: dict[str, Impact] = {one.training: one for member in members for one in member.impacts}
    return Incident(
        id=parent.id,
        cluster=parent.cluster,
        group_key=parent.key,
        subject=parent.subject,
        opened_at=parent.opened_at,
        severity=parent.severity,
        channels=parent.channels,
        members=tuple(alert for member in members for alert in member.members),
        impacts=ordered(impacts.values()),
        events=parent.events,
        acknowledged_by=parent.acknowledged_by,
        acknowledged_by_name=parent.acknowledged_by_name,
        acknowledged_at=parent.acknowledged_at,
        resolved_at=parent.resolved_at,
    )
