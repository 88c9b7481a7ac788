"""This file keeps what a round of evaluation gave: alerts, their incidents, cards and lines, in one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.cards.desired import desired_cards, desired_replies
from alerts.cards.posted import CardKind
from alerts.incidents.grouping import (
    GroupingContext,
    add_alert,
    belongs,
    group_key_of,
    open_incident,
    resolve_if_over,
)
from alerts.incidents.incident import Incident
from alerts.lifecycle import AlertLife, AlertState
from alerts.routing import Route, channels_of
from alerts.rules import Rule, Severity
from alerts.silences import Silence
from alerts.store import ALL, EvaluationProgress
from bot.evaluation.scheduler import EvaluationCycle
from collectors.facts.topology import Topology
from commands.incident.card_context import incident_context, silenced_until
from commands.store import Store, Unit

REFRESH_EVERY = timedelta(
    minutes=1
)  # how often a card's figures follow the alert's; its phase follows at once


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRouting:
    """Where things are told."""

    routes: tuple[Route, ...] = ()
    default: str = ""


class IncidentRecorder:
    """Writes one cluster's rounds into the store."""

    def __init__(self, cluster: str, store: Store, tellings: CardRouting) -> None:
        self._cluster = cluster
        self._store = store
        self._tellings = tellings
        self._blind: frozenset[str] = frozenset()  # the sources that could not be seen at the last round
        self._kept: dict[
            str, tuple[datetime, AlertLife]
        ] = {}  # Alert.id -> when it was last written, and how

    async def restore(self) -> tuple[list[Alert], Mapping[str, datetime]]:
        """The alerts that stood when the last process ended, and up to when it had judged each rule."""
        async with self._store.unit() as unit:
            progress = await unit.progress.get(self._cluster)
            standing = [
                alert
                for state in (AlertState.PENDING, AlertState.FIRING)
                for alert in await unit.alerts.find(cluster=self._cluster, state=state.value, limit=100_000)
            ]
        return standing, progress.evaluated if progress else {}

    async def record(
        self,
        cycle: EvaluationCycle,
        *,
        rules: Mapping[str, Rule],
        topology: Topology,
        blind: frozenset[str] = frozenset(),
    ) -> None:
        """One transaction: the alerts that changed, what that does to incidents, the cards and lines it calls for.

        `blind` are the sources that cannot be seen now: when they are others than before, every open card says so.
        """
        is_news, self._blind = blind != self._blind, blind
        changed = {change.alert.id: change.alert for change in cycle.changes}
        dropped = {
            change.alert.id for change in cycle.changes if change.alert.life.state is AlertState.RESOLVED
        }
        fresh = {alert.id: alert for alert in cycle.standing if self._is_stale(alert, cycle.at)}
        latest = {**changed, **fresh}  # one that changed while it was made up for may have moved on since
        grouping = GroupingContext(rules=rules, topology=topology)
        async with self._store.unit() as unit:
            for alert in latest.values():
                await unit.alerts.put(alert)
            await self._forget_pending(unit, cycle)
            if cycle.progress:
                await unit.progress.put(EvaluationProgress(cluster=self._cluster, evaluated=cycle.progress))
            silences = await unit.silences.find(cluster=self._cluster, limit=ALL)
            live = await unit.incidents.find(cluster=self._cluster, state="open", limit=ALL)
            touched = await self._group(unit, cycle, fresh.values(), grouping, live)
            if is_news:
                for incident in live:
                    await unit.incidents.put(incident)  # it has not changed, but what its card says has
            await self._post_replies(unit, touched, silences, grouping, cycle.at, live)
        for id, alert in latest.items():
            self._kept[id] = cycle.at, alert.life
        for id in dropped:
            self._kept.pop(id, None)

    def _is_stale(self, alert: Alert, now: datetime) -> bool:
        """Whether the store's row is old, or would give another process another patience."""
        at, life = self._kept.get(alert.id, (None, None))
        return alert.is_firing and (at is None or now - at >= REFRESH_EVERY or life != alert.life)

    async def _forget_pending(self, unit: Unit, cycle: EvaluationCycle) -> None:
        """A pending alert that went away without firing leaves no trace."""
        standing = {alert.id for alert in cycle.standing}
        for alert in await unit.alerts.find(
            cluster=self._cluster, state=AlertState.PENDING.value, limit=10_000
        ):
            if alert.rule in cycle.evaluated and alert.id not in standing:
                await unit.alerts.delete(alert.id)

    async def _group(
        self,
        unit: Unit,
        cycle: EvaluationCycle,
        fresh: Iterable[Alert],
        grouping: GroupingContext,
        live: Sequence[Incident],
    ) -> dict[str, Incident]:
        """Each change in its order: what fired and ended while we were blind has happened too."""
        touched: dict[str, Incident] = {}
        changes = [(change.alert, change.at) for change in cycle.changes]
        told = [*changes, *((alert, cycle.at) for alert in fresh)]
        speaking = [(alert, at) for alert, at in told if alert.life.state is not AlertState.PENDING]
        homes = {member.alert: incident for incident in live for member in incident.members}
        for alert, at in speaking:
            home = homes.get(alert.id)
            home = touched.get(home.id, home) if home else None
            incident = await self._incident_of(unit, alert, home, touched, at)
            if incident is not None:
                touched[incident.id] = homes[alert.id] = add_alert(incident, alert, grouping, at)
        return touched

    async def _incident_of(
        self, unit: Unit, alert: Alert, home: Incident | None, touched: Mapping[str, Incident], now: datetime
    ) -> Incident | None:
        """The open incident that knows the alert already, whatever it would fold to by now; or the one it folds to."""
        known = [home] if home else [one for one in touched.values() if belongs(one, alert, now)]
        if not known:
            found = await unit.incidents.find(
                cluster=self._cluster, group_key=group_key_of(alert), newest=True, limit=5
            )
            known = [one for one in found if belongs(one, alert, now)]
        channels = channels_of(alert, self._tellings.routes, default=self._tellings.default)
        if known and (known[0].is_open or alert.severity is not Severity.INFO):
            incident = known[0]
            more = tuple(dict.fromkeys((*incident.channels, *channels)))
            return replace(incident, channels=more)
        if not alert.is_firing or alert.severity is Severity.INFO:
            return None  # info is context for what is told already: it opens nothing by itself
        number = await unit.next_number("incident")
        return open_incident(f"i{number}", alert, channels=channels, now=now)

    async def _post_replies(
        self,
        unit: Unit,
        touched: Mapping[str, Incident],
        silences: Sequence[Silence],
        grouping: GroupingContext,
        now: datetime,
        live: Sequence[Incident],
    ) -> None:
        """Close what is over, and see that every incident that is not silenced has its cards and lines."""
        before = {one.id: one for one in live}
        for id, incident in {**before, **touched}.items():
            settled = resolve_if_over(incident, now)
            kept = before.get(id) or await unit.incidents.get(id)
            if settled != before.get(id):
                await unit.incidents.put(settled)
            there = {card.id: card for card in await unit.cards.find(kind=CardKind.INCIDENT.value, row_id=id)}
            was_told = bool(there) and not settled.firing
            if not was_told and await silenced_until(settled, unit, silences, now=now) is not None:
                continue
            after = kept.events[-1].number if kept and kept.events else 0
            for card in desired_cards(settled, there, after=after):
                await unit.cards.put(card)
                there[card.id] = card
            if settled is not before.get(id):
                context = await incident_context(settled, unit, rules=grouping.rules, now=now)
                for line in desired_replies(settled, tuple(there.values()), context=context):
                    await unit.replies.add(line)
