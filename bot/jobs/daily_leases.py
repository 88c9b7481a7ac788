"""The daily reminder of cordons: each owner reads once a day, at a set hour of theirs, which nodes they keep out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from alerts.cards.posted import CardKind, PostedCard, new_card
from alerts.incidents.incident import Incident
from alerts.store import Store
from bot.cards.notice_cards import direct_channel
from bot.jobs.due_work import DueWork
from bot.live_cluster import LiveCluster
from collectors.facts.clock import Clock
from collectors.facts.daily_time import DailyTime
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from commands.core.persons import EachTheirOwn, Persons
from commands.models import CordonLease, DailyReminder, LeasedNode
from commands.node.out_of_service import what_it_waits_for

OLD_AFTER = timedelta(days=1)  # a cordon that is younger, and not past its end, is no news
SAID_WITHIN = timedelta(hours=12)  # of its hour; what we slept through is said on the next day

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """Who reads what where: the default channel has what cannot be said to a person directly."""

    channel: str = ""
    reaches_people: Callable[[str], bool] = lambda _kind: False
    persons: Persons = field(default_factory=EachTheirOwn)


@dataclass(frozen=True, slots=True)
class DailyLeases:
    """Keeps the next reminder of each owner in the store, and says it at its hour. A restart repeats and skips none."""

    store: Store
    clusters: Mapping[str, LiveCluster]
    clock: Clock
    _: KW_ONLY
    daily: DailyTime
    readers: Readers

    @property
    def works(self) -> tuple[DueWork[DailyReminder], ...]:
        """What is due; nothing without an hour."""
        if self.daily.at is None:
            return ()
        return (DueWork(name="daily leases", row=DailyReminder, column="due_at", do=self._remind),)

    async def follow(self, leases: Sequence[CordonLease]) -> None:
        """Store the next reminder of each owner who has none, and delete that of who has no lease any more."""
        if self.daily.at is None:
            return
        names = {self._owner_of(one): one.owner_name for one in leases}
        now = self.clock.now()
        async with self.store.read() as snapshot:
            due = {one.owner: one for one in await snapshot.rows(DailyReminder).find() if one.due_at}
        if names.keys() == due.keys():
            return
        async with self.store.unit() as unit:
            for owner in names.keys() - due.keys():
                await unit.rows(DailyReminder).add(self._next(owner, names[owner], now))
            for owner in due.keys() - names.keys():
                await unit.rows(DailyReminder).delete(due[owner].id)

    def _owner_of(self, lease: CordonLease) -> str:
        return self.readers.persons.person_of(lease.owner)

    def _next(self, owner: str, name: str, now: datetime) -> DailyReminder:
        at = self.daily.next_after(now, owner)
        return DailyReminder(id=f"{owner}/{at:%Y%m%dT%H%M}", owner=owner, owner_name=name, at=at)

    async def _remind(self, due: DailyReminder, now: datetime) -> timedelta | None:
        """Say what the owner keeps out of service now, if anything is old enough, and store the next reminder."""
        nodes = await self._nodes_of(due.owner, now)
        async with self.store.unit() as unit:
            stored = await unit.rows(DailyReminder).get(due.id)
            if stored is None or stored.due_at is None or stored.at > now:
                return None
            await unit.rows(DailyReminder).delete(stored.id)
            await unit.rows(DailyReminder).put(self._next(due.owner, due.owner_name, now))
            readers = self.readers
            direct = direct_channel(due.owner, (readers.channel,), readers.reaches_people)
            channel = direct or readers.channel
            if not nodes or not channel or now - due.at > SAID_WITHIN:
                return None
            said = replace(stored, said_at=now, nodes=nodes, is_direct=bool(direct))
            await unit.rows(DailyReminder).put(said)
            await unit.rows(PostedCard).add(new_card(CardKind.DAILY_LEASES, said, channel))
        _log.info("owner reminded of cordons", owner=due.owner, nodes=len(nodes))
        return None

    async def _nodes_of(self, owner: str, now: datetime) -> tuple[LeasedNode, ...]:
        """Return the nodes that the owner keeps out of service for long, or beyond the end of the lease."""
        async with self.store.read() as snapshot:
            leases = [
                one
                for one in await snapshot.rows(CordonLease).find()
                if self._owner_of(one) == owner and one.lifted_at is None
            ]
            incidents = await snapshot.rows(Incident).find(
                cluster=sorted({one.cluster for one in leases}), state="open"
            )
        return tuple(
            LeasedNode(
                cluster=one.cluster,
                node=one.node,
                since=one.since,
                reason=one.reason,
                waits_for=self._waits_for(one, incidents, now),
                is_past_its_end=_is_past(one, now),
            )
            for one in sorted(leases, key=lambda one: (one.since, one.id))
            if _is_past(one, now) or now - one.since >= OLD_AFTER
        )

    def _waits_for(self, lease: CordonLease, incidents: Sequence[Incident], now: datetime) -> str:
        cluster = self.clusters.get(lease.cluster)
        try:
            node = cluster.inventory().nodes.get(lease.node) if cluster is not None else None
        except SourceError as error:
            return sentence("not known, as the cluster cannot be seen: {error}", error=said_by(error))
        if node is None:
            return sentence("not known: it is not in the cluster")
        return what_it_waits_for(node, lease, [one for one in incidents if one.cluster == lease.cluster], now)


def _is_past(lease: CordonLease, now: datetime) -> bool:
    return lease.until is not None and lease.until <= now
