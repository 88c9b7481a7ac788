"""Changes of a parent incident: it forms, gets members, is what they are now, and has its list attached. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.incidents.events import IncidentEventType
from alerts.incidents.grouping import acknowledge
from alerts.incidents.incident import Incident
from alerts.parents.likely_cause import gpus_at_stake, likely_cause
from alerts.parents.parent_incident import COUNTED, Fired, ParentIncident, Standing
from alerts.parents.storm_keys import node_of
from alerts.parents.storms import TOGETHER, Storm
from alerts.rules import ImpactScope, Severity
from collectors.facts.topology import Topology

CALM = timedelta(seconds=1)  # without a new alert, the whole list is attached again
GROWN = 1.25  # and at once if it has grown by so much


def formed(id: str, storm: Storm, now: datetime) -> ParentIncident:
    first = storm.members[0]
    none = Standing(severity=Severity.INFO, gravity=0, incidents=0, open_incidents=0, nodes=0, open_nodes=0)
    formed = ParentIncident(
        id=id,
        cluster=first.cluster,
        key=storm.key,
        name=storm.name,
        opened_at=now,
        joined_at=now,
        standing=none,
    )
    return formed.with_event(IncidentEventType.OPENED, now)


def as_member(parent: ParentIncident, incident: Incident, now: datetime) -> Incident:
    """Return the incident as a member; somebody who works on the parent works on it."""
    member = replace(incident, parent=parent.id).with_event(IncidentEventType.JOINED, now, text=parent.id)
    if not parent.acknowledged_by or member.acknowledged_by:
        return member
    return acknowledge(member, who=parent.acknowledged_by, who_name=parent.acknowledged_by_name, now=now)


def with_standing(
    before: ParentIncident, found: tuple[list[Incident], int, int], now: datetime, *, has_joined: bool
) -> ParentIncident:
    """Return the parent as its members are now: it is raised, over or open again as they are."""
    members, incidents, nodes = found
    open_ones = [one for one in members if one.is_open]
    channels = tuple(
        dict.fromkeys((*before.channels, *(one for member in members for one in member.channels)))
    )
    standing = replace(
        before.standing,
        incidents=incidents,
        alerts=max(before.standing.alerts, sum(one.alerts for one in members)),
        open_incidents=len(open_ones),
        nodes=nodes,
        open_nodes=len({node_of(one) for one in open_ones}),
    )
    if open_ones:
        fired = _fired(open_ones)
        standing = replace(
            standing,
            severity=max((one.severity for one in open_ones), key=lambda one: one.rank),
            gravity=max(one.gravity for one in open_ones),
            fired=fired[:COUNTED],
            other_alerts=max(0, len(fired) - COUNTED),
            gpus=_gpus(open_ones),
        )
    after = replace(before, standing=standing, channels=channels)
    if has_joined:
        after = replace(after, joined_at=now)
    if standing.extent != before.standing.extent:
        after = replace(after, grew_at=now)
    if before.is_open and not open_ones:
        ended = max((one.resolved_at for one in members if one.resolved_at), default=now)
        return replace(after, resolved_at=ended).with_event(IncidentEventType.RESOLVED, ended)
    if not before.is_open and open_ones:
        return _reopened(after, now)
    if before.standing.incidents and standing.severity.rank > before.severity.rank:
        return after.with_event(IncidentEventType.SEVERITY_RAISED, now)
    if before.standing.incidents and standing.gravity > max(before.gravity, before.severity.rank):
        return after.with_event(IncidentEventType.WORSENED, now)
    return after


def with_stake(
    before: ParentIncident,
    after: ParentIncident,
    members: Sequence[Incident],
    others: Iterable[Incident],
    topology: Topology,
    now: datetime,
    *,
    has_joined: bool,
) -> ParentIncident:
    """Return the parent with its likely cause and the GPUs at stake; until now it were those of before.

    The cause is of those that broke together at its beginning. What joins later may have another.
    """
    if not has_joined and after.standing.open_incidents == before.standing.open_incidents:
        return after
    open_ones = [one for one in members if one.is_open]
    gpus, likely = gpus_at_stake(open_ones, topology), before.standing.likely
    if open_ones and (likely is None or (has_joined and now - before.opened_at <= TOGETHER)):
        likely = likely_cause(open_ones, others, topology)
    standing = replace(after.standing, likely=likely, at_stake=gpus)
    if gpus == before.standing.at_stake and before.is_open == after.is_open:
        return replace(after, standing=standing)
    return replace(
        after, standing=standing, gpu_hours=before.gpu_hours_until(after.resolved_at or now), counted_at=now
    )


def _gpus(incidents: Iterable[Incident]) -> int:
    """Return how many GPUs the trainings have that they affect."""
    known: dict[str, float] = {}
    for incident in incidents:
        for impact in incident.impacts:
            if impact.scope is not ImpactScope.BYSTANDERS:
                known[impact.training] = max(impact.gpus, known.get(impact.training, 0))
    return round(sum(known.values()))


def _reopened(parent: ParentIncident, now: datetime) -> ParentIncident:
    """Open it again: who acknowledged it is over, as for an incident."""
    open_again = replace(
        parent,
        resolved_at=None,
        reopened_at=now,
        acknowledged_by="",
        acknowledged_by_name="",
        acknowledged_at=None,
    )
    return open_again.with_event(IncidentEventType.REOPENED, now)


def _fired(incidents: Iterable[Incident]) -> tuple[Fired, ...]:
    """Return on how many nodes each alert stands: the gravest first, and then what stands on most."""
    nodes: dict[str, set[str]] = {}
    gravity: dict[str, int] = {}
    for incident in incidents:
        node = node_of(incident)
        for member in filter(incident.stands, incident.members):
            nodes.setdefault(member.name, set()).add(node)
            gravity[member.name] = max(gravity.get(member.name, 0), member.gravity)
    names = sorted(nodes, key=lambda name: (-gravity[name], -len(nodes[name]), name))
    return tuple(Fired(alert=name, nodes=len(nodes[name])) for name in names)


def with_list(parent: ParentIncident, now: datetime) -> ParentIncident:
    """Return the parent with its whole list attached, if that is due: a file cannot be changed, and each is a post.

    One that grows for hours gets fewer and fewer.
    """
    extent = parent.standing.extent
    if not parent.is_open or extent == parent.listed:
        return parent
    pause = max(CALM, (now - parent.opened_at) / 3)
    is_due = extent >= GROWN * parent.listed or now - (parent.grew_at or parent.joined_at) >= pause
    return replace(parent, listed=extent) if is_due else parent
