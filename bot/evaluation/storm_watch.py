"""The storm watch: gives the incidents of many nodes that begin together a parent, in the unit that records them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.incidents.incident import Incident
from alerts.incidents.incident_book import Effects, IncidentBook
from alerts.parents.parent_book import FoundStorms, ParentBook
from alerts.parents.parent_incident import ParentIncident
from alerts.store import Between, Changed, Unit
from bot.cooperative import run_steps
from collectors.facts.topology import Topology


async def parents_since(since: datetime, cluster: str, unit: Unit) -> Sequence[ParentIncident]:
    """Return the parents that are open or ended since then."""
    rows = unit.rows(ParentIncident)
    live = await rows.find(cluster=cluster, state="open")
    return [*live, *await rows.find(cluster=cluster, resolved_at=Between(start=since))]


def without_lost_parents(
    incidents: Iterable[Incident], parents: Collection[ParentIncident]
) -> list[Incident]:
    """Return the incidents; one whose parent is not stored has none, or nobody would see it."""
    known = {parent.id for parent in parents}
    return [
        one if not one.is_open or one.parent in ("", *known) else replace(one, parent="") for one in incidents
    ]


class StormWatch:
    """The parents of one cluster. It follows the store, after the incident book has."""

    def __init__(self, book: ParentBook) -> None:
        self._book = book

    @classmethod
    async def load(
        cls,
        cluster: str,
        parents: Sequence[ParentIncident],
        unit: Unit,
        *,
        remembered_for: timedelta,
        least: int,
    ) -> "StormWatch":
        """Return the watch with these parents and their members, also those that ended long ago."""
        ids = [parent.id for parent in parents]
        members = await unit.rows(Incident).find(parent=ids) if ids else ()
        return cls(
            ParentBook(
                cluster,
                parents=parents,
                members=members,
                remembered_for=remembered_for,
                least=least,
            )
        )

    @property
    def open(self) -> Sequence[ParentIncident]:
        return self._book.open

    def follow(self, changed: Changed) -> None:
        """Take over committed rows."""
        self._book.apply(changed)

    def forget(self, now: datetime) -> None:
        self._book.forget(now)

    async def gathered(
        self,
        unit: Unit,
        effects: Effects,
        book: IncidentBook,
        *,
        lacking: Iterable[str],
        silenced: Collection[str],
        topology: Topology,
        now: datetime,
    ) -> tuple[Effects, tuple[ParentIncident, ...]]:
        """Return the effects with what is a part of a storm, and the parents that changed, which are stored."""
        found = self._book.find(effects, book, lacking=lacking, silenced=silenced, topology=topology, now=now)
        if found.storms and not await _is_current(found, effects, book, unit):
            found = replace(found, storms=())  # another process changed them: the next cycle looks again
        first = await unit.next_number("incident", len(found.storms)) if found.storms else 0
        ids = [f"i{first + number}" for number in range(len(found.storms))]
        effects, parents = await run_steps(
            self._book.follow(effects, book, found, ids, topology=topology, now=now)
        )
        for parent in parents:
            await unit.rows(ParentIncident).put(parent)
        return effects, parents


async def _is_current(found: FoundStorms, effects: Effects, book: IncidentBook, unit: Unit) -> bool:
    """Return whether the book has what is stored of the older incidents that the storms take."""
    new = {one.id for one in effects.opened} | effects.changed.keys()
    older = [one.id for storm in found.storms for one in storm.members if one.id not in new]
    stored = await unit.rows(Incident).get_all(older) if older else {}
    return all(
        id in stored and (known := book.get(id)) is not None and stored[id].version == known.version
        for id in older
    )
