"""Storms: which incidents began together on many nodes that have something in common, and which join one. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.incidents.incident import Incident
from alerts.parents.parent_incident import ParentIncident
from alerts.parents.storm_keys import STORM_KEYS, StormKey, node_of
from collectors.facts.topology import Topology

STORM_FROM = 8  # nodes, without a setting
TOGETHER = timedelta(
    minutes=5
)  # within it they began together, and what comes so soon after the last one joins
AT_ONCE = 3  # parents of one kind within it: if there would be more, a wider key says more


@dataclass(frozen=True, slots=True, kw_only=True)
class StormCandidate:
    """An incident without a parent that may be a part of a storm."""

    incident: Incident
    node: str
    since: datetime  # when it began, or began to be shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """A new storm and its members."""

    kind: str
    id: str
    name: str
    members: tuple[Incident, ...]

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.id}"


def storm_candidate(incident: Incident, since: datetime) -> StormCandidate | None:
    """Return the incident as a candidate; None if it is over, about no node, or a part of a storm already."""
    if not incident.is_open or incident.parent or not (node := node_of(incident)):
        return None
    return StormCandidate(incident=incident, node=node, since=since)


def parents_joined(
    candidates: Iterable[StormCandidate],
    live: Mapping[str, ParentIncident],
    topology: Topology,
    *,
    least: int,
    now: datetime,
) -> dict[str, str]:
    """Return the parents that candidates join, by the incident's id. `live`: the open parents by key."""
    found: dict[str, str] = {}
    for candidate in candidates if live else ():
        for key in STORM_KEYS:
            keys = (f"{key.kind}/{id}" for id in key.of(candidate.incident, topology))
            parents = (live[one] for one in keys if one in live)
            if parent := next((one for one in parents if _takes(one, key, least, now)), None):
                found[candidate.incident.id] = parent.id
                break
    return found


def _takes(parent: ParentIncident, key: StormKey, least: int, now: datetime) -> bool:
    """Whether a new incident belongs to it: it is still coming, or has as many nodes as make a storm.

    The rest of one that has passed takes no others: they would break unseen.
    """
    if now - parent.joined_at <= TOGETHER:
        return True
    return key.is_lasting and parent.standing.open_nodes >= least * key.times


def storms_among(
    candidates: Sequence[StormCandidate],
    live: Iterable[ParentIncident],
    topology: Topology,
    *,
    least: int,
    now: datetime,
) -> list[Storm]:
    """Return the storms, each with the closest key that explains it.

    `live`: the open parents; those that formed just now count, so that a storm which spreads gets few parents.
    """
    recent = [parent.kind for parent in live if now - parent.opened_at <= TOGETHER]
    left, storms = list(candidates), list[Storm]()
    for most in (AT_ONCE, len(left)):  # whatever no wider key explains has its parents, however many
        for key in STORM_KEYS:
            if len(left) < least:
                return storms
            found = _of_key(key, left, topology, least)
            if found and len(found) + recent.count(key.kind) <= most:
                storms += found
                gone = {one.id for storm in found for one in storm.members}
                left = [one for one in left if one.incident.id not in gone]
    return storms


def _of_key(
    key: StormKey, candidates: Sequence[StormCandidate], topology: Topology, least: int
) -> list[Storm]:
    """Return the storms that the key explains; an incident that could be in several is in the largest."""
    groups: dict[str, list[StormCandidate]] = {}
    for candidate in candidates:
        for id in key.of(candidate.incident, topology):
            groups.setdefault(id, []).append(candidate)
    taken: set[str] = set()
    storms: list[Storm] = []
    for id, members in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])):
        if len(members) < least * key.times:
            break
        together = _together([one for one in members if one.incident.id not in taken])
        nodes = {one.node for one in together}
        if len(nodes) < max(least * key.times, key.share * key.nodes(id, topology)):
            continue
        taken |= {one.incident.id for one in together}
        incidents = tuple(one.incident for one in together)
        storms.append(Storm(kind=key.kind, id=id, name=key.shown(id, topology), members=incidents))
    return storms


def _together(candidates: Sequence[StormCandidate]) -> Sequence[StormCandidate]:
    """Return the most that began within TOGETHER."""
    ordered = sorted(candidates, key=lambda one: one.since)
    best, start = (0, 0), 0
    for end, last in enumerate(ordered, 1):
        while last.since - ordered[start].since > TOGETHER:
            start += 1
        if end - start > best[1] - best[0]:
            best = start, end
    return ordered[slice(*best)]
