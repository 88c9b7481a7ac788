"""The parent book: a cluster's live parent incidents in memory, and what a cycle changes in them. Pure."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.incidents.incident import Incident
from alerts.incidents.incident_book import Effects, IncidentBook
from alerts.parents.growth import with_growth
from alerts.parents.parent_changes import as_member, formed, with_list, with_stake, with_standing
from alerts.parents.parent_incident import ParentIncident
from alerts.parents.storm_keys import node_of
from alerts.parents.storms import (
    STORM_FROM,
    TOGETHER,
    Storm,
    StormCandidate,
    parents_joined,
    storm_candidate,
    storms_among,
)
from alerts.store import Changed
from collectors.facts.stepwise import STEP, Stepwise
from collectors.facts.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundStorms:
    """What the incidents of a cycle belong to: `joins` has live parents by the incidents' ids."""

    joins: Mapping[str, str]
    storms: Sequence[Storm] = ()


NONE_FOUND = FoundStorms(joins={})


class ParentBook:
    """The open parent incidents of a cluster and those that ended not long ago, with the nodes of their members.

    It follows the store through `apply`, also for what it proposed itself.
    """

    def __init__(
        self,
        cluster: str,
        *,
        parents: Iterable[ParentIncident] = (),
        members: Iterable[Incident] = (),
        remembered_for: timedelta,
        least: int = STORM_FROM,
    ) -> None:
        self._cluster = cluster
        self._least = least
        self._remembered_for = remembered_for
        self._parents = {parent.id: parent for parent in parents}
        self._nodes: dict[str, dict[str, str]] = {}  # parent -> incident -> node
        self._open: dict[str, set[str]] = {}  # parent -> its incidents that are open
        for incident in members:
            self._index(incident)

    @property
    def open(self) -> list[ParentIncident]:
        return [parent for parent in self._parents.values() if parent.is_open]

    def apply(self, changed: Changed) -> None:
        """Take over committed rows: table -> id -> the row, None if it was deleted."""
        for id, parent in changed.get("parents", {}).items():
            if parent is None:
                self._parents.pop(id, None)
                self._drop(id)
            elif parent.cluster == self._cluster:
                self._parents[id] = parent
        for incident in changed.get("incidents", {}).values():
            if incident is not None and incident.parent in self._parents:
                self._index(incident)

    def forget(self, now: datetime) -> None:
        """Drop the parents that ended long ago."""
        for parent in list(self._parents.values()):
            if parent.resolved_at is not None and now - parent.resolved_at >= self._remembered_for:
                del self._parents[parent.id]
                self._drop(parent.id)

    def _drop(self, id: str) -> None:
        self._nodes.pop(id, None)
        self._open.pop(id, None)

    def _index(self, incident: Incident) -> None:
        self._nodes.setdefault(incident.parent, {})[incident.id] = node_of(incident)
        live = self._open.setdefault(incident.parent, set())
        if incident.is_open:
            live.add(incident.id)
        else:
            live.discard(incident.id)

    def find(
        self,
        effects: Effects,
        book: IncidentBook,
        *,
        lacking: Iterable[str],
        silenced: Container[str],
        topology: Topology,
        now: datetime,
    ) -> FoundStorms:
        """Return which incidents that are new to people join a parent, or are a storm with others.

        `lacking`: ids of those that had no card until now, as they were silenced.
        """
        new: list[StormCandidate] = []
        for incident in _beginning(effects):
            found = storm_candidate(incident, incident.began_at)
            new += [found] if found and incident.id not in silenced else []
        for id in lacking:
            incident_ = effects.changed.get(id) or book.get(id)
            found = storm_candidate(incident_, now) if incident_ is not None else None
            new += [found] if found and id not in silenced else []
        if not new:
            return NONE_FOUND
        live = self.open
        joins = parents_joined(
            new, {parent.key: parent for parent in live}, topology, least=self._least, now=now
        )
        known = {one.incident.id for one in new}
        others = (
            storm_candidate(incident, incident.began_at)
            for incident in (effects.changed.get(one.id, one) for one in book.open)
            if incident.id not in known and incident.id not in silenced
        )
        alike = [*(one for one in new if one.incident.id not in joins), *filter(None, others)]
        storms = storms_among(_near(alike, new), live, topology, least=self._least, now=now)
        return FoundStorms(joins=joins, storms=storms)

    def follow(
        self,
        effects: Effects,
        book: IncidentBook,
        found: FoundStorms,
        ids: Sequence[str],
        *,
        topology: Topology,
        now: datetime,
    ) -> Stepwise[tuple[Effects, tuple[ParentIncident, ...]]]:
        """Return the effects with the members of the parents, and the parents to store. `ids`: of the new storms."""
        parents = dict(
            zip(
                ids,
                (formed(id, storm, now) for id, storm in zip(ids, found.storms, strict=True)),
                strict=True,
            )
        )
        homes = dict(found.joins) | {
            one.id: id for id, storm in zip(ids, found.storms, strict=True) for one in storm.members
        }
        effects = self._with_members(effects, book, homes, parents, now)
        touched = {one.parent: None for one in effects.incidents if one.parent} | self._differing()
        changed: list[ParentIncident] = []
        for id in dict.fromkeys((*touched, *(parent.id for parent in self.open))):
            before = parents.get(id) or self._parents.get(id)
            if before is None:
                continue
            after = before
            if id in touched:
                members = yield from self._members(id, effects, book)
                has_joined = id in homes.values()
                after = with_standing(before, members, now, has_joined=has_joined)
                after = with_stake(before, after, members[0], book.open, topology, now, has_joined=has_joined)
            after = with_list(with_growth(after, now), now)
            if after != self._parents.get(id):
                changed.append(after)
        return effects, tuple(changed)

    def _differing(self) -> dict[str, None]:
        """Return the parents of which members were opened again, or ended, other than by a cycle."""
        return {
            id: None
            for id, parent in self._parents.items()
            if parent.standing.open_incidents != len(self._open.get(id, ()))
        }

    def _with_members(
        self,
        effects: Effects,
        book: IncidentBook,
        homes: Mapping[str, str],
        parents: Mapping[str, ParentIncident],
        now: datetime,
    ) -> Effects:
        if not homes:
            return effects
        changed, before = dict(effects.changed), dict(effects.before)
        opened = {one.id: one for one in effects.opened}
        for id, home in homes.items():
            parent = parents.get(home) or self._parents[home]
            if id in opened:
                opened[id] = as_member(parent, opened[id], now)
            elif (stored := book.get(id)) is not None:
                before.setdefault(id, stored)
                changed[id] = as_member(parent, changed.get(id, stored), now)
        return replace(effects, changed=changed, before=before, opened=tuple(opened.values()))

    def _members(
        self, id: str, effects: Effects, book: IncidentBook
    ) -> Stepwise[tuple[list[Incident], int, int]]:
        """Return the parent's members that the book still has, how many there were in all, and on how many nodes."""
        latest = {one.id: one for one in effects.incidents if one.parent == id}
        nodes = self._nodes.get(id, {}) | {one.id: node_of(one) for one in latest.values()}
        members: list[Incident] = []
        for number, incident in enumerate(nodes, 1):
            found = latest.get(incident) or book.get(incident)
            if found is not None and found.parent == id:
                members.append(found)
            if number % (10 * STEP) == 0:
                yield
        return members, len(nodes), len({*nodes.values()} - {""})


def _beginning(effects: Effects) -> Iterable[Incident]:
    """Yield the incidents that were opened, or reopened."""
    yield from effects.opened
    for id, incident in effects.changed.items():
        if incident.is_open and not effects.before[id].is_open:
            yield incident


def _near(candidates: Sequence[StormCandidate], new: Sequence[StormCandidate]) -> list[StormCandidate]:
    """Return those that are not much older than what is new: a storm has begun just now."""
    oldest = min(one.since for one in new)
    return [one for one in candidates if oldest - one.since <= TOGETHER]
