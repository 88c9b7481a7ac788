"""The incident recorder: a cycle's alerts, incidents, cards and replies, stored in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.cards.desired import desired_replies
from alerts.cards.posted import CardKind, PostedCard, ThreadReply
from alerts.incidents.book import REMEMBERED_FOR, Effects, IncidentBook, Update
from alerts.incidents.grouping import REOPENS_WITHIN, GroupingContext
from alerts.incidents.incident import Incident
from alerts.incidents.member_rows import MemberRow, rows_of, whole_ones, write_incident
from alerts.incidents.proofs import ProofFacts
from alerts.lifecycle import AlertLife, AlertState
from alerts.routing import Route, channels_of
from alerts.rules import Proof, Rule
from alerts.silences import Silence
from alerts.store import Between, Changed, EvaluationProgress, ObservedStore, Unit
from bot.cooperative import in_pieces, run_steps
from bot.evaluation.scheduler import EvaluationCycle
from collectors.facts.topology import Topology
from commands.incident.card_context import active, context_of, plans_of, silenced_until

REFRESH_EVERY = timedelta(minutes=1)  # how often values on a card are updated; its state is updated at once


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRouting:
    """The channels for incidents."""

    routes: tuple[Route, ...] = ()
    default: str = ""


class IncidentRecorder:
    """Records one cluster's evaluation cycles in the store."""

    def __init__(
        self,
        cluster: str,
        store: ObservedStore,
        routing: CardRouting,
        *,
        reopens_within: timedelta = REOPENS_WITHIN,
    ) -> None:
        self._reopens_within = reopens_within
        self._remembered_for = max(REMEMBERED_FOR, reopens_within)
        self._cluster = cluster
        self._store = store
        self._routing = routing
        self._book: IncidentBook | None = None  # read in the first cycle
        store.listen(self._follow)
        self._written: dict[
            str, tuple[datetime, AlertLife]
        ] = {}  # Alert.id -> when its row was last written, and with which life

    async def restore(self) -> tuple[list[Alert], Mapping[str, datetime]]:
        """Return the last process's alerts that are not resolved, and when it last evaluated each rule."""
        self._written, self._book = {}, None
        async with self._store.unit() as unit:
            progress = await unit.rows(EvaluationProgress).get(self._cluster)
            standing = await unit.rows(Alert).find(
                cluster=self._cluster, state=(AlertState.PENDING, AlertState.FIRING)
            )
        return list(standing), progress.evaluated if progress else {}

    async def record(
        self,
        cycle: EvaluationCycle,
        *,
        rules: Mapping[str, Rule],
        topology: Topology,
        facts: ProofFacts,
    ) -> None:
        """Store the changed alerts, their incidents, cards and replies, in one transaction."""
        changed = {change.alert.id: change.alert async for change in in_pieces(cycle.changes)}
        dropped = {
            id async for id, alert in in_pieces(changed.items()) if alert.life.state is AlertState.RESOLVED
        }
        fresh = {
            alert.id: alert async for alert in in_pieces(cycle.standing) if self._is_stale(alert, cycle.at)
        }
        latest = {**changed, **fresh}  # an alert that changed in the backfill may have changed again
        updates = [(change.alert, change.at) for change in cycle.changes]
        updates += [(alert, cycle.at) for alert in fresh.values()]
        grouping = GroupingContext(
            rules=rules, topology=topology, facts=facts, reopens_within=self._reopens_within
        )
        async with self._store.unit() as unit:
            async for alert in in_pieces(latest.values()):
                await unit.rows(Alert).put(alert)
            await self._forget_pending(unit, cycle)
            if cycle.progress:
                progress = EvaluationProgress(cluster=self._cluster, evaluated=cycle.progress)
                await unit.rows(EvaluationProgress).put(progress)
            book, effects = await self._absorb(unit, updates, grouping, cycle.at)
            for write in await run_steps(book.writes(effects)):
                await write_incident(unit, write)
            await self._expire_silences(unit, book, effects, cycle.at)
            await self._post(unit, book, effects, rules, cycle.at)
        book.forget(cycle.at)
        async for id, alert in in_pieces(latest.items()):
            self._written[id] = cycle.at, alert.life
        for id in dropped:
            self._written.pop(id, None)

    async def restate(self, by: timedelta, now: datetime) -> None:
        """Move every moment of the live incidents by so much, since the clock was set to `now`.

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

    async def unproven_rules(self, proof: Proof, cycle: EvaluationCycle) -> frozenset[str]:
        """Return the ids of the rules of alerts that need such a proof, of the incidents that are open.

        And of those that changed in this cycle: the fault may be over before the next one, and nothing else saw it.
        """
        incidents = tuple(self._book.open) if self._book is not None else await self._stored_open()
        unproven = {
            member.rule
            for incident in incidents
            for member in incident.members
            if proof in member.proofs and incident.needs_proof(member)
        }
        return frozenset(unproven | {change.alert.rule for change in cycle.changes})

    @property
    def remembered(self) -> int:
        """The number of alerts in memory."""
        return len(self._written)

    @property
    def crowded(self) -> int:
        """The number of open incidents that leave alerts out."""
        return sum(one.is_crowded for one in self._book.open) if self._book is not None else 0

    async def proven_alerts(self) -> frozenset[str]:
        """Return the ids of alerts that fire without data, and whose fault was proven over."""
        incidents = tuple(self._book.open) if self._book is not None else await self._stored_open()
        return frozenset(
            member.alert
            for incident in incidents
            for member in incident.members
            if member.proven is not None and member.is_unseen and member.is_firing
        )

    async def _stored_open(self) -> Sequence[Incident]:
        async with self._store.read() as snapshot:
            found = await snapshot.rows(Incident).find(cluster=self._cluster, state="open")
            return await whole_ones(found, snapshot)

    def _follow(self, changed: Changed) -> None:
        if self._book is not None:
            self._book.apply(changed)

    def _is_stale(self, alert: Alert, now: datetime) -> bool:
        """Return whether the stored row is old, or holds a life that another process would time differently."""
        at, life = self._written.get(alert.id, (None, None))
        return alert.is_firing and (at is None or abs(now - at) >= REFRESH_EVERY or life != alert.life)

    async def _forget_pending(self, unit: Unit, cycle: EvaluationCycle) -> None:
        """Delete pending alerts that went away without firing."""
        standing = {alert.id async for alert in in_pieces(cycle.standing)}
        for alert in await unit.rows(Alert).find(cluster=self._cluster, state=AlertState.PENDING):
            if alert.rule in cycle.evaluated and alert.id not in standing:
                await unit.rows(Alert).delete(alert.id)
                self._written.pop(alert.id, None)

    async def _load(self, unit: Unit, since: datetime) -> IncidentBook:
        incidents = list(await unit.rows(Incident).find(cluster=self._cluster, state="open"))
        recent = Between(start=since - self._remembered_for)
        incidents += await unit.rows(Incident).find(cluster=self._cluster, resolved_at=recent)
        incidents.sort(key=lambda incident: incident.opened_at)
        ids = [incident.id for incident in incidents]
        cards = await unit.rows(PostedCard).find(row_id=ids, kind=CardKind.INCIDENT)
        silences = await unit.rows(Silence).find(cluster=self._cluster)
        return IncidentBook(
            self._cluster,
            incidents=await whole_ones(incidents, unit),
            documents={incident.id: incident for incident in incidents},
            cards=cards,
            silences=silences,
            remembered_for=self._remembered_for,
        )

    async def _absorb(
        self, unit: Unit, updates: Sequence[Update], grouping: GroupingContext, now: datetime
    ) -> tuple[IncidentBook, Effects]:
        """Return what the cycle changes. The book is a cache: what it would change is compared with the store."""
        since = min((at for _, at in updates), default=now)
        book = self._book or await self._load(unit, since)
        effects = await self._steps(book, updates, grouping, now)
        if not await self._is_current(unit, book, effects, since):
            book = await self._load(unit, since)
            effects = await self._steps(book, updates, grouping, now)
        self._book = book
        if not effects.opened:
            return book, effects
        first = await unit.next_number("incident", len(effects.opened))
        return book, effects.numbered(f"i{first + number}" for number in range(len(effects.opened)))

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

    async def _post(
        self, unit: Unit, book: IncidentBook, effects: Effects, rules: Mapping[str, Rule], now: datetime
    ) -> None:
        """Store the cards and replies of the changed incidents, and of those that are no longer silenced."""
        wanted = book.wanted_cards(effects)
        silenced = await self._silenced(unit, book, [incident for incident, _ in wanted], now)
        wanted = [(incident, cards) for incident, cards in wanted if incident.id not in silenced]
        plans = await plans_of([one for one, _ in wanted if one.id in effects.changed], unit)
        replies: list[ThreadReply] = []
        for incident, cards in wanted:
            for card in cards:
                await unit.rows(PostedCard).put(card)
            posted = {**book.cards_of(incident.id), **{card.id: card for card in cards}}
            context = await context_of(incident, plans.get(incident.id, ()), unit, rules=rules)
            replies += desired_replies(incident, tuple(posted.values()), context=context)
        already = await unit.rows(ThreadReply).get_all(reply.id for reply in replies) if replies else {}
        for reply in replies:
            if reply.id not in already:
                await unit.rows(ThreadReply).put(reply)

    async def _expire_silences(self, unit: Unit, book: IncidentBook, effects: Effects, now: datetime) -> None:
        """End the silences that last until an incident is over."""
        over = {incident.id for incident in effects.incidents if not incident.is_open}
        for silence in list(book.silences.values()) if over else ():
            if silence.is_until_over and silence.incident in over and silence.is_active(now):
                await unit.rows(Silence).put(replace(silence, expired_at=now))

    async def _silenced(
        self, unit: Unit, book: IncidentBook, incidents: Sequence[Incident], now: datetime
    ) -> set[str]:
        """Return the ids of those that are silenced. One with a card shows its end, silenced or not."""
        silences = active(book.silences.values(), now)
        asked = [one for one in incidents if one.firing or not book.cards_of(one.id)] if silences else []
        members = [member.alert for incident in asked for member in incident.members]
        alerts = await unit.rows(Alert).get_all(members) if members else {}
        return {one.id for one in asked if silenced_until(one, alerts, silences, now=now) is not None}
