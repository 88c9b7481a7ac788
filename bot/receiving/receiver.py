"""The receiver: takes alerts from other programs and brings them to the recorder; many senders share a transaction.

What was taken is committed. Senders repeat what was not, so an alert may come any number of times, and from any number
of replicas.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from alerts.alert import Alert
from alerts.alert_batch import AlertBatch, AlertRecorder, Update
from alerts.incidents.twin import twin_of
from alerts.kept_bodies import InboxMark
from alerts.lifecycle import AlertState
from alerts.received import RECEIVED, ReceivedAlert, alert_id, not_repeated, received
from alerts.rules import Rule, named_rule
from alerts.store import Store
from bot.cooperative import in_pieces
from bot.event_waits import set_within
from collectors.facts.clock import Clock
from collectors.facts.topology import Topology

MOST_WAITING = 20_000  # alerts that wait for a transaction: a sender has to come back
TAKEN_WITHIN = 20.0  # seconds, or a sender has to come back
LOOKS_EVERY = timedelta(seconds=5)  # for alerts that are over, as nobody has sent them again
LISTED_WITHIN = timedelta(seconds=1)  # of the last alert of a storm: the list of all is attached
REMEMBERED = timedelta(hours=1)  # what ended: senders repeat the end for a while
RESTORED = 5_000  # of those that ended, after a start

_NOT_STORED = "they could not be stored"


class BusyError(Exception):
    """The alerts are not taken now, and should be sent again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """Alerts that came together. `at`: when, if not now. `number`: of the inbox's body, 0 for none."""

    alerts: Sequence[ReceivedAlert]
    at: datetime | None = None
    number: int = 0


_Waiting = tuple[Sequence[Delivery], "asyncio.Future[None]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inlet:
    """Where a cluster's received alerts go, and what completes them.

    `lacks_cards`: whether incidents wait for a card, and nothing else looks at them again.
    """

    recorder: AlertRecorder
    topology: Callable[[], Topology]
    rules: Callable[[], Mapping[str, Rule]]
    lacks_cards: Callable[[], bool] = lambda: False


@dataclass(slots=True, kw_only=True)
class _Draft:
    """What a transaction changes: the alerts after it, when each is over, and the states on the way."""

    alerts: dict[str, Alert] = field(default_factory=dict)
    ends: dict[str, datetime] = field(default_factory=dict)
    updates: defaultdict[str, list[Update]] = field(default_factory=lambda: defaultdict(list))

    def change(self, updates: Iterable[Update]) -> None:
        for update in updates:
            self.alerts[update[0].id] = update[0]
            self.updates[update[0].cluster].append(update)


class Receiver:
    """Keeps the received alerts of all clusters. `run` does the work.

    `inlets`: by cluster. `lasts`: how long an alert stands that has no end of its own. `default`: the cluster of alerts
    without a known `cluster` label, the first if it is empty. `external`: labels that senders add to what rules find.
    """

    def __init__(
        self,
        inlets: Mapping[str, Inlet],
        store: Store,
        clock: Clock,
        *,
        lasts: timedelta,
        default: str = "",
        external: frozenset[str] = frozenset(),
    ) -> None:
        self._inlets = inlets
        self._default = default or next(iter(inlets))
        self._external = external
        self._store = store
        self._clock = clock
        self._lasts = lasts
        self._known: dict[str, Alert] = {}  # by Alert.id: those that stand, and those that ended not long ago
        self._ends: dict[
            str, datetime
        ] = {}  # the last end that was given, which may be later than the stored one
        self._looked_at: datetime | None = None
        self._kept_until: datetime | None = (
            None  # nothing ends before, for want of a repeat: we did not listen
        )
        self._waiting: list[_Waiting] = []
        self._stored_up_to: dict[str, int] = {}  # cluster -> the inbox's last body whose effects it has
        self._wake = asyncio.Event()
        self._has_begun = asyncio.Event()
        self.trouble = ""  # why nothing can be stored, since the last time that something could

    async def take(self, alerts: Sequence[ReceivedAlert]) -> None:
        """Return when the alerts are stored. Raises BusyError; they may have been stored all the same."""
        if not alerts:
            return
        waiting = sum(len(one.alerts) for deliveries, _ in self._waiting for one in deliveries)
        if waiting and waiting + len(alerts) > MOST_WAITING:  # a body alone is taken, however many it has
            raise BusyError(f"{MOST_WAITING} alerts wait to be stored")
        try:
            async with asyncio.timeout(TAKEN_WITHIN):
                await self.take_kept([Delivery(alerts=alerts)])
        except TimeoutError as error:
            raise BusyError(f"they were not stored within {TAKEN_WITHIN:g} s") from error

    async def take_kept(self, deliveries: Sequence[Delivery]) -> None:
        """Return when what follows from these is stored, however long it takes. Raises BusyError if it cannot be.

        One with a number is stored once, however often it is brought.
        """
        stored = asyncio.get_running_loop().create_future()
        self._waiting.append((deliveries, stored))
        self._wake.set()
        await stored

    async def run(self) -> None:
        """Store what was sent, and end what is not sent again, until cancelled."""
        try:
            await self.restore()
            while True:
                taken, self._waiting = self._waiting, []
                try:
                    await self._store_taken([one for deliveries, _ in taken for one in deliveries])
                except BaseException:  # this part is restarted, and reads again what is stored
                    _settle(taken, BusyError(_NOT_STORED))
                    raise
                self.trouble = ""
                _settle(taken)
                await self._next()
        except Exception:
            self.trouble = _NOT_STORED
            self._has_begun.set()
            raise

    async def begun(self) -> None:
        """Return when it has read what is stored; or has not been able to, which is a trouble."""
        await self._has_begun.wait()

    @property
    def standing(self) -> Iterable[Alert]:
        """The received alerts that fire."""
        return (alert for alert in self._known.values() if alert.is_firing)

    def end_of(self, alert: Alert) -> datetime | None:
        """Return the last end that was given. The stored one may be too early by as much as is not worth a row."""
        return self._ends.get(alert.id) or (alert.ends_at and alert.ends_at + self._lasts)

    async def _next(self) -> None:
        """Wait for a sender, or for the next look at what is over."""
        unlisted = any(inlet.recorder.unlisted for inlet in self._inlets.values())
        pause = LISTED_WITHIN if unlisted else LOOKS_EVERY
        if await set_within(self._wake, pause.total_seconds()):
            self._wake.clear()

    async def restore(self) -> None:
        """Read what is stored. `run` does it."""
        async with self._store.read() as snapshot:
            rows = snapshot.rows(Alert)
            found = [
                *await rows.find(rule=RECEIVED, state=AlertState.RESOLVED, limit=RESTORED, newest=True),
                *await rows.find(rule=RECEIVED, state=AlertState.FIRING),
            ]
            marks = await snapshot.rows(InboxMark).find()
        self._stored_up_to = {mark.cluster: mark.number for mark in marks}
        self._known = {alert.id: alert for alert in found}
        self._ends = {}
        self._looked_at = None
        self._has_begun.set()

    async def _recall(self, over: Iterable[ReceivedAlert]) -> None:
        """Read what is stored of alerts that are over and that we do not remember: they may have ended long ago."""
        ids = {alert_id(self._cluster_of(one), one.labels) for one in over}
        if unknown := [id for id in ids if id not in self._known]:
            async with self._store.read() as snapshot:
                self._known |= await snapshot.rows(Alert).get_all(unknown)

    async def _store_taken(self, taken: Sequence[Delivery]) -> None:
        now = self._clock.now()
        draft = _Draft()
        up_to = dict(self._stored_up_to)
        sent = self._not_stored(taken, up_to, now)
        await self._recall(one for one, at in sent if one.ends_at <= at)
        topologies = {name: inlet.topology() for name, inlet in self._inlets.items()}
        rules = {name: inlet.rules() for name, inlet in self._inlets.items()}
        async for one, at in in_pieces(sent):
            cluster = self._cluster_of(one)
            id = alert_id(cluster, one.labels)
            known = draft.alerts.get(id) or self._known.get(id)
            changes = received(
                one,
                known,
                cluster=cluster,
                topology=topologies[cluster],
                now=at,
                stored_for=self._lasts,
                twin=self._twin_of(one, cluster, rules[cluster])
                if known is None or not known.is_firing
                else "",
            )
            draft.change(changes)
            after = draft.alerts.get(id) or known
            if one.ends_at <= at and after is not None and after.is_firing:
                continue  # the end of its last life, which says nothing about this one
            given = draft.ends.get(id) or self._ends.get(id) or one.ends_at
            draft.ends[id] = one.ends_at if one.ends_at <= at else max(one.ends_at, given)
        draft.change(
            not_repeated(alert, end) for alert, end in self._silent(now) if alert.id not in draft.ends
        )
        waiting: dict[str, list[Update]] = {
            name: [] for name, inlet in self._inlets.items() if inlet.lacks_cards()
        }
        for cluster, updates in {**waiting, **draft.updates}.items():
            batch = AlertBatch(at=now, updates=tuple(updates), states=self._mark(cluster, up_to))
            await self._inlets[cluster].recorder.record(
                batch, rules=rules[cluster], topology=topologies[cluster]
            )
            self._known |= {id: alert for id, alert in draft.alerts.items() if alert.cluster == cluster}
            self._stored_up_to[cluster] = up_to.get(cluster, 0)
        for cluster, inlet in self._inlets.items() if not taken else ():
            if cluster not in draft.updates and inlet.recorder.unlisted:
                batch = AlertBatch(at=now)
                await inlet.recorder.record(batch, rules=inlet.rules(), topology=topologies[cluster])
        self._stored_up_to = up_to  # also of those clusters on which it had no effect
        self._ends |= draft.ends
        self._forget(now)

    def _not_stored(
        self, taken: Iterable[Delivery], up_to: dict[str, int], now: datetime
    ) -> list[tuple[ReceivedAlert, datetime]]:
        """Return the alerts whose effects are not stored, each with the moment as of which it counts.

        `up_to` becomes what is stored after these.
        """
        found: list[tuple[ReceivedAlert, datetime]] = []
        for delivery in taken:
            number, at = delivery.number, min(delivery.at or now, now)
            found += [
                (one, at)
                for one in delivery.alerts
                if not number or number > up_to.get(self._cluster_of(one), 0)
            ]
            if number:
                up_to |= {name: max(number, up_to.get(name, 0)) for name in self._inlets}
        return found

    def _mark(self, cluster: str, up_to: Mapping[str, int]) -> tuple[InboxMark, ...]:
        """Return the row that is stored with the effects, so that they are stored once."""
        number = up_to.get(cluster, 0)
        return (InboxMark(cluster=cluster, number=number),) if number else ()

    def _silent(self, now: datetime) -> Sequence[tuple[Alert, datetime]]:
        """Return the alerts that nobody has sent again, and when each was over.

        After a time in which we did not listen, the senders get as long again.
        """
        is_back = self._is_back(now)
        if not is_back and self._looked_at is not None and now - self._looked_at < LOOKS_EVERY:
            return ()
        if is_back:
            self._kept_until = now + self._lasts
        self._looked_at = now
        if self._kept_until is not None and now < self._kept_until:
            return ()
        return [
            (alert, end) for alert in self.standing if (end := self.end_of(alert)) is not None and end <= now
        ]

    def _is_back(self, now: datetime) -> bool:
        return self._looked_at is None or abs(now - self._looked_at) > 4 * LOOKS_EVERY

    def _forget(self, now: datetime) -> None:
        over = [
            id
            for id, alert in self._known.items()
            if alert.life.resolved_at is not None and now - alert.life.resolved_at >= REMEMBERED
        ]
        for id in over:
            del self._known[id]
            self._ends.pop(id, None)

    def _twin_of(self, one: ReceivedAlert, cluster: str, rules: Mapping[str, Rule]) -> str:
        rule = named_rule(one.labels.get("alertname", ""), rules)
        return twin_of(cluster, rule, one.labels, self._external)

    def _cluster_of(self, one: ReceivedAlert) -> str:
        cluster = one.labels.get("cluster", "")
        return cluster if cluster in self._inlets else self._default


def _settle(taken: Iterable[_Waiting], error: Exception | None = None) -> None:
    """Tell the senders whether their alerts are stored, if they still wait."""
    for _, stored in taken:
        if stored.done():
            continue
        if error is None:
            stored.set_result(None)
        else:
            stored.set_exception(error)
