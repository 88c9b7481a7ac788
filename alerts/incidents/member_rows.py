"""Members as rows: an incident's document holds its first alerts and their totals, a row of its own each other one.

Each alert is in one place, so only those that changed are written, and a reader of an incident reads a small document.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from alerts.incidents.incident import Incident, Member
from alerts.incidents.shortening import KEPT, shortened
from alerts.store import StoreSnapshot, Unit, stored
from collectors.facts.stepwise import Stepwise

PAGE = 1_000  # rows read at a time


@stored("members", "incident", goes_with=("incident", "incidents"), floats=lambda row: (row.member.value,))
@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """An alert of an incident that is not among those in the incident's document."""

    id: str
    incident: str
    member: Member


def row_id(incident: str, alert: str) -> str:
    return f"{incident}/{alert}"


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentWrite:
    """What to store of an incident: its document, the rows of its other alerts that changed, and ids to delete."""

    whole: Incident
    document: Incident
    put: tuple[MemberRow, ...] = ()
    deleted: tuple[str, ...] = ()


def incident_write(
    whole: Incident, before: Incident | None, stored: Incident | None, most: int = KEPT
) -> Stepwise[IncidentWrite]:
    """Return how to store an incident that was `before`, of which `stored` is the document; None for a new one."""
    document = yield from shortened(whole, most)
    if document.totals is None and (stored is None or stored.totals is None):
        return IncidentWrite(whole=whole, document=document)
    kept = {member.alert for member in document.members}
    others = {member.alert: member for member in whole.members if member.alert not in kept}
    known: dict[str, Member] = {}  # as rows
    if before is not None and stored is not None and stored.totals is not None:
        in_document = {member.alert for member in stored.members}
        known = {member.alert: member for member in before.members if member.alert not in in_document}
    put = tuple(
        MemberRow(id=row_id(whole.id, alert), incident=whole.id, member=member)
        for alert, member in others.items()
        if known.get(alert) != member
    )
    deleted = tuple(row_id(whole.id, alert) for alert in known if alert not in others)
    return IncidentWrite(whole=whole, document=document, put=put, deleted=deleted)


async def write_incident(unit: Unit, write: IncidentWrite) -> None:
    """Store what changed of an incident."""
    await unit.rows(Incident).put(write.document)
    for row in write.put:
        await unit.rows(MemberRow).put(row)
    for id in write.deleted:
        await unit.rows(MemberRow).delete(id)


async def whole_ones(incidents: Sequence[Incident], snapshot: StoreSnapshot) -> list[Incident]:
    """Return stored incidents with all of their alerts."""
    found: dict[str, list[MemberRow]] = {one.id: [] for one in incidents if one.totals is not None}
    async for row in rows_of(found, snapshot):
        found[row.incident].append(row)
    return [with_rows(one, found[one.id]) if one.id in found else one for one in incidents]


async def rows_of(incidents: Collection[str], snapshot: StoreSnapshot) -> AsyncIterator[MemberRow]:
    """Yield the rows of these incidents' alerts, read by pages."""
    async for page in pages_of(incidents, snapshot):
        for row in page:
            yield row


async def pages_of(
    incidents: str | Collection[str], snapshot: StoreSnapshot, size: int = PAGE
) -> AsyncIterator[Sequence[MemberRow]]:
    """Yield the rows of these incidents' alerts, or of one, by pages."""
    rows, after = snapshot.rows(MemberRow), ""
    while incidents and (page := await rows.find(incident=incidents, limit=size, after=after)):
        yield page
        if len(page) < size:
            return
        after = page[-1].id


def with_rows(incident: Incident, rows: Iterable[MemberRow]) -> Incident:
    """Return a stored incident with the alerts of these rows, too. A row is newer than what the incident holds."""
    members = {member.alert: member for member in incident.members}
    members.update((row.member.alert, row.member) for row in rows)
    return replace(incident, members=tuple(members.values()), totals=None)
