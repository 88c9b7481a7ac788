"""The incident recorder: what producers of alerts bring, and what follows from it, stored in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.alert_batch import AlertBatch, Update
from alerts.incidents.grouping import REOPENS_WITHIN, GroupingContext
from alerts.incidents.incident import Incident
from alerts.incidents.incident_book import REMEMBERED_FOR, Effects, IncidentBook
from alerts.incidents.member_rows import MemberRow, rows_of, whole_ones
from alerts.lifecycle import AlertState
from alerts.parents.parent_incident import ParentIncident
from alerts.parents.storms import STORM_FROM
from alerts.routing import CardRouting as CardRouting  # it is named by where it is used, too
from alerts.routing import channels_of
from alerts.rules import Proof, Rule
from alerts.store import Between, Changed, EvaluationProgress, ObservedStore, StoreError, Unit
from bot.cooperative import in_pieces, run_steps
from bot.evaluation.live_incidents import LiveIncidents
from bot.evaluation.storm_watch import parents_since
from collectors.facts.topology import Topology

REFRESH_EVERY = timedelta(minutes=1)  # how often values on a card are updated; its state is updated at once
REFRESHED_AT_ONCE = 200  # rows whose value alone is old, in one batch: others wait for the transaction


class IncidentRecorder:
    """Records what the producers of one cluster's alerts bring. See `AlertRecorder` in alerts/alert_batch.py."""

    def __init__(
        self,
        cluster: str,
        store: ObservedStore,
        routing: CardRouting,
        *,
        reopens_within: timedelta = REOPENS_WITHIN,
        storm_from: int = STORM_FROM,
    ) -> None:
        self._storm_from = storm_from
        self._reopens_within = reopens_within
        self._remembered_for = max(REMEMBERED_FOR, reopens_within)
        self._cluster = cluster
        self._store = store
        self._routing = routing
        self._live: LiveIncidents | None = None  # read for the first batch
        store.listen(self._follow)
        self._written: dict[
            str, tuple[datetime, Alert]
        ] = {}  # Alert.id -> when it was last recorded, and its row

    async def restore(self) -> tuple[list[Alert], Mapping[str, datetime]]:
        """Return the alerts of the last process's rules that are not resolved, and when it last evaluated each."""
        self._written, self._live = {}, None
        async with self._store.read() as snapshot:
            progress = await snapshot.rows(EvaluationProgress).get(self._cluster)
            standing = await snapshot.rows(Alert).find(
                cluster=self._cluster, state=(AlertState.PENDING, AlertState.FIRING)
            )
        own = [alert for alert in standing if not alert.is_received]
        return own, progress.evaluated if progress else {}

    async def record(self, batch: AlertBatch, *, rules: Mapping[str, Rule], topology: Topology) -> None:
        """Store the changed alerts, their incidents, cards and replies, in one transaction."""
        changed = {alert.id: alert async for alert, _ in in_pieces(batch.updates)}
        fresh = await self._refreshed(batch)
        latest = {**changed, **fresh}  # an alert that changed in the backfill may have changed again
        updates = [*batch.updates, *((alert, batch.at) for alert in fresh.values())]
        grouping = GroupingContext(
            rules=rules, topology=topology, facts=batch.facts, reopens_within=self._reopens_within
        )
        async with self._store.unit() as unit:
            async for alert in in_pieces(latest.values()):
                if (
                    alert.id in changed
                    or alert.id not in self._written
                    or self._written[alert.id][1] != alert
                ):
                    await unit.rows(Alert).put(alert)
            await self._forget_pending(unit, batch)
            await self._keep_state(unit, batch)
            live, effects = await self._absorb(unit, updates, grouping, batch.at)
            await live.store(unit, effects, topology, batch.at, newer=latest.values())
        live.forget(batch.at)
        async for id, alert in in_pieces(latest.items()):
            self._written[id] = batch.at, alert
        for alert, _ in batch.updates:
            if alert.life.state is AlertState.RESOLVED:
                self._written.pop(alert.id, None)

    async def _keep_state(self, unit: Unit, batch: AlertBatch) -> None:
        """Store what the producer needs to continue after this batch, and not before it."""
        if batch.progress:
            progress = EvaluationProgress(cluster=self._cluster, evaluated=batch.progress)
            await unit.rows(EvaluationProgress).put(progress)
        for state in batch.states:
            await unit.rows(type(state)).put(state)

    async def restate(self, by: timedelta, now: datetime) -> None:
        """Move every moment of the live incidents by a clock step of so much, to `now`.

        Durations stay true: how long an incident lasted, and for how long it may be reopened.
        """
        reopenable = Between(start=now - by - self._remembered_for)
        async with self._store.unit() as unit:
            rows = unit.rows(Incident)
            live = {
                incident.id: incident
                for incident in (
                    *await rows.find(cluster=self._cluster, state="open"),
                    *await rows.find(cluster=self._cluster, resolved_at=reopenable),
                )
            }
            others = [row async for row in rows_of(live, unit)]
            for incident in live.values():
                await rows.put(incident.restated(by))
            for row in others:
                await unit.rows(MemberRow).put(replace(row, member=row.member.restated(by)))
            for parent in await parents_since(now - by - self._remembered_for, self._cluster, unit):
                await unit.rows(ParentIncident).put(parent.restated(by))

    async def unproven_rules(self, proof: Proof, updates: Sequence[Update]) -> frozenset[str]:
        """Return the ids of the rules of alerts that need such a proof, of the incidents that are open.

        And of those that changed just now: the fault may be over before the next cycle, and nothing else saw it.
        """
        incidents = await self._open()
        unproven = {
            member.rule
            for incident in incidents
            for member in incident.members
            if proof in member.proofs and incident.needs_proof(member)
        }
        return frozenset(unproven | {alert.rule for alert, _ in updates})

    @property
    def remembered(self) -> int:
        """The number of alerts in memory."""
        return len(self._written)

    @property
    def crowded(self) -> int:
        """The number of open incidents that leave alerts out."""
        return sum(one.is_crowded for one in self._live.book.open) if self._live is not None else 0

    def lacks_cards(self) -> bool:
        """Whether open incidents wait for a card: they were held back when they began."""
        return self._live is not None and bool(self._live.posting.lacking)

    @property
    def parents(self) -> int:
        """The number of open parent incidents."""
        return len(self._live.watch.open) if self._live is not None else 0

    @property
    def unlisted(self) -> bool:
        open_ones = self._live.watch.open if self._live is not None else ()
        return any(parent.listed != parent.standing.extent for parent in open_ones)

    async def proven_alerts(self) -> frozenset[str]:
        """Return the ids of alerts that fire without data, and whose fault was proven over."""
        incidents = await self._open()
        return frozenset(
            member.alert
            for incident in incidents
            for member in incident.members
            if member.proven is not None and member.is_unseen and member.is_firing
        )

    async def _open(self) -> Sequence[Incident]:
        if self._live is not None:
            return tuple(self._live.book.open)
        try:
            async with self._store.read() as snapshot:
                found = await snapshot.rows(Incident).find(cluster=self._cluster, state="open")
                return await whole_ones(found, snapshot)
        except StoreError:  # nothing is proven meanwhile; evaluation goes on
            return ()

    def _follow(self, changed: Changed) -> None:
        if self._live is not None:
            self._live.follow(changed)

    async def _refreshed(self, batch: AlertBatch) -> dict[str, Alert]:
        """Return the standing alerts to record again: whose life another process would time differently, and those
        recorded longest ago, which have another value by now or an incident to join. They began at the same time, so
        all of them would be old in one batch."""
        fresh: dict[str, Alert] = {}
        old: list[tuple[datetime, Alert]] = []
        async for alert in in_pieces(batch.standing):
            if not alert.is_firing:
                continue
            at, row = self._written.get(alert.id, (batch.at, None))
            if row is None or row.life != alert.life:
                fresh[alert.id] = alert
            elif abs(batch.at - at) >= REFRESH_EVERY:
                old.append((at, alert))
        old.sort(key=lambda one: one[0])
        return fresh | {alert.id: alert for _, alert in old[:REFRESHED_AT_ONCE]}

    async def _forget_pending(self, unit: Unit, batch: AlertBatch) -> None:
        """Delete pending alerts that went away without firing."""
        standing = {alert.id async for alert in in_pieces(batch.standing)}
        for alert in await unit.rows(Alert).find(cluster=self._cluster, state=AlertState.PENDING):
            if alert.rule in batch.complete and alert.id not in standing:
                await unit.rows(Alert).delete(alert.id)
                self._written.pop(alert.id, None)

    async def _load(self, unit: Unit, since: datetime) -> LiveIncidents:
        return await LiveIncidents.load(
            self._cluster,
            unit,
            since,
            routing=self._routing,
            remembered_for=self._remembered_for,
            storm_from=self._storm_from,
        )

    async def _absorb(
        self, unit: Unit, updates: Sequence[Update], grouping: GroupingContext, now: datetime
    ) -> tuple[LiveIncidents, Effects]:
        """Return what the alerts change. The book is a cache: what it would change is compared with the store.

        A backfill needs it as far back as it goes. What a sender says began long ago does not: its first batch is now.
        """
        since = min((at for alert, at in updates if not alert.is_received), default=now)
        live = self._live or await self._load(unit, since)
        effects = await self._steps(live.book, updates, grouping, now)
        if not await self._is_current(unit, live.book, effects, since):
            live = await self._load(unit, since)
            effects = await self._steps(live.book, updates, grouping, now)
        self._live = live
        if effects.opened:
            first = await unit.next_number("incident", len(effects.opened))
            effects = effects.numbered(f"i{first + number}" for number in range(len(effects.opened)))
        return live, effects

    async def _steps(
        self, book: IncidentBook, updates: Sequence[Update], grouping: GroupingContext, now: datetime
    ) -> Effects:
        return await run_steps(
            book.absorb(updates, grouping=grouping, channels_of=self._channels_of, now=now)
        )

    def _channels_of(self, alert: Alert) -> tuple[str, ...]:
        return channels_of(alert, self._routing.routes, default=self._routing.default)

    async def _is_current(self, unit: Unit, book: IncidentBook, effects: Effects, since: datetime) -> bool:
        """Return whether the book has what is stored of the incidents that change, and of the groups that open one.

        It lacks what another process stored, and what resolved long ago where a backfill goes back as far.
        """
        stored = await unit.rows(Incident).get_all(effects.changed) if effects.changed else {}
        if any(id not in stored or stored[id].version != one.version for id, one in effects.before.items()):
            return False
        if not effects.opened:
            return True
        incidents = unit.rows(Incident)
        keys = [incident.group_key for incident in effects.opened]
        recent = Between(start=since - self._remembered_for)
        of_groups = [
            *await incidents.find(group_key=keys, cluster=self._cluster, state="open"),
            *await incidents.find(group_key=keys, cluster=self._cluster, resolved_at=recent),
        ]
        return all(book.get(incident.id) is not None for incident in of_groups)
