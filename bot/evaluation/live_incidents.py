"""The live incidents of a cluster in memory: the incident book, and what follows from it, which follow the store."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from alerts.incidents.incident_book import Effects, IncidentBook
from alerts.incidents.member_rows import whole_ones, write_incident
from alerts.routing import CardRouting
from alerts.store import Between, Changed, Unit
from bot.cooperative import run_steps
from bot.evaluation.posting import IncidentPosting
from bot.evaluation.storm_watch import StormWatch, parents_since, without_lost_parents
from collectors.facts.topology import Topology


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveIncidents:
    """The book, its cards and its parents. Each takes over a commit after the one before it has."""

    book: IncidentBook
    posting: IncidentPosting
    watch: StormWatch

    @classmethod
    async def load(
        cls,
        cluster: str,
        unit: Unit,
        since: datetime,
        *,
        routing: CardRouting,
        remembered_for: timedelta,
        storm_from: int,
    ) -> "LiveIncidents":
        """Return what is stored of the incidents that are open, or ended not long before `since`."""
        incidents: Sequence[Incident] = [
            *await unit.rows(Incident).find(cluster=cluster, state="open"),
            *await unit.rows(Incident).find(
                cluster=cluster, resolved_at=Between(start=since - remembered_for)
            ),
        ]
        parents = await parents_since(since - remembered_for, cluster, unit)
        incidents = sorted(without_lost_parents(incidents, parents), key=lambda one: one.opened_at)
        book = IncidentBook(
            cluster,
            incidents=await whole_ones(incidents, unit),
            documents={incident.id: incident for incident in incidents},
            remembered_for=remembered_for,
        )
        return cls(
            book=book,
            posting=await IncidentPosting.load(
                cluster, book, unit, [one.id for one in incidents], routing=routing
            ),
            watch=await StormWatch.load(
                cluster, parents, unit, remembered_for=remembered_for, least=storm_from
            ),
        )

    def follow(self, changed: Changed) -> None:
        """Take over committed rows."""
        self.book.apply(changed)
        self.posting.follow(changed)
        self.watch.follow(changed)

    def forget(self, now: datetime) -> None:
        """Drop what ended long ago."""
        self.posting.forget(self.book.forget(now), now)
        self.watch.forget(now)

    async def store(
        self,
        unit: Unit,
        effects: Effects,
        topology: Topology,
        now: datetime,
        *,
        newer: Collection[Alert] = (),
    ) -> None:
        """Store the incidents that changed, with the parents of those that are a part of a storm, and their cards.

        `newer`: the alerts that changed in this unit.
        """
        held = await self.posting.held(unit, effects, now, newer)
        effects, parents = await self.watch.gathered(
            unit,
            effects,
            self.book,
            lacking=self.posting.lacking_cards,
            silenced=held.incidents,
            topology=topology,
            now=now,
        )
        for write in await run_steps(self.book.writes(effects)):
            await write_incident(unit, write)
        await self.posting.post(unit, effects, now, held=held, parents=parents)
