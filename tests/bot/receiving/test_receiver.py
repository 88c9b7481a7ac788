"""The receiver: what it takes is stored once, and ends as its senders say or when they fall silent."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.cards.posted import PostedCard
from alerts.incidents.incident import Incident
from alerts.received import ReceivedAlert
from alerts.routing import CardRouting, Route
from alerts.store import Unit
from alerts.time_intervals import TimeInterval, read_period
from bot.evaluation.recorder import IncidentRecorder
from bot.receiving import receiver
from bot.receiving.receiver import MOST_WAITING, BusyError, Inlet, Receiver
from collectors.facts.labels import Labels
from tests.support.alerting import CLUSTER, NOON, a_topology, minutes
from tests.support.memory_store import MemoryStore

pytestmark = pytest.mark.looptime

LASTS = minutes(5)


class FailingStore(MemoryStore):
    """A store that can fail before a commit, and counts the units that changed something."""

    def __init__(self) -> None:
        super().__init__()
        self.failures = 0
        self.commits = 0
        self.listen(lambda _changed: self._count())

    def _count(self) -> None:
        self.commits += 1

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Unit]:
        async with super().unit() as unit:
            yield unit
            if self.failures:
                self.failures -= 1
                raise OSError("disk full")


@dataclass
class LoopTime:
    """A clock that follows the loop's virtual time."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        return NOON + self.ahead + timedelta(seconds=asyncio.get_running_loop().time())

    def elapsed(self) -> timedelta:
        return timedelta(seconds=asyncio.get_running_loop().time())


@dataclass
class Stage:
    """A receiver with a recorder. `process()` makes them again, as a restart does."""

    store: FailingStore = field(default_factory=FailingStore)
    clock: LoopTime = field(default_factory=LoopTime)
    clusters: tuple[str, ...] = (CLUSTER,)
    receiver: Receiver = field(init=False)

    def __post_init__(self) -> None:
        self.process()

    def process(self) -> None:
        self.receiver = self.a_receiver()

    def a_receiver(self, *, default: str = "") -> Receiver:
        inlets = {
            name: Inlet(
                recorder=IncidentRecorder(name, self.store, CardRouting(default="C1")),
                topology=a_topology,
                rules=dict,
            )
            for name in self.clusters
        }
        return Receiver(inlets, self.store, self.clock, lasts=LASTS, default=default)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the receiver, and start it again when it fails, as the supervisor does."""

        async def keep() -> None:
            while True:
                with suppress(OSError):
                    await self.receiver.run()
                await asyncio.sleep(0.5)

        async with asyncio.TaskGroup() as group:
            task = group.create_task(keep())
            try:
                yield
            finally:
                task.cancel()

    async def rows(self, row: type[Any]) -> list[Any]:
        async with self.store.read() as snapshot:
            return list(await snapshot.rows(row).find())

    async def ends(self) -> dict[str, str]:
        """Return the state of each alert, and why it ended, by node."""
        return {
            one.labels["node"]: f"{one.life.state} {one.ended_reason}".strip()
            for one in await self.rows(Alert)
        }


def sent(
    at: datetime,
    node: str = "gpu-a01",
    *,
    lasts: timedelta = LASTS,
    began: datetime | None = None,
    **labels: str,
) -> ReceivedAlert:
    return ReceivedAlert(
        labels=Labels({"alertname": "LinkDown", "severity": "critical", "node": node, **labels}),
        annotations={"summary": f"A link of {node} is down."},
        starts_at=began or at,
        ends_at=at + lasts,
    )


async def test_many_senders_share_a_transaction() -> None:
    stage = Stage()
    async with stage.running():
        await stage.receiver.take([sent(stage.clock.now(), "gpu-b01")])
        before = stage.store.commits
        async with asyncio.TaskGroup() as group:
            for number in range(40):
                group.create_task(stage.receiver.take([sent(stage.clock.now(), f"gpu-a{number:02}")]))
        assert len(await stage.rows(Alert)) == 41
        assert stage.store.commits - before <= 2


async def test_what_is_sent_again_changes_nothing_until_its_end_is_worth_a_row() -> None:
    stage = Stage()
    async with stage.running():
        began = stage.clock.now()
        await stage.receiver.take([sent(began)])
        before = stage.store.commits
        for _ in range(4):
            await asyncio.sleep(60)
            await stage.receiver.take([sent(stage.clock.now(), began=began)])
        assert stage.store.commits == before
        await asyncio.sleep(60)
        await stage.receiver.take([sent(stage.clock.now(), began=began)])
        assert stage.store.commits == before + 1
        await asyncio.sleep(LASTS.total_seconds() - 10)
        assert await stage.ends() == {"gpu-a01": "firing"}


async def test_an_alert_that_nobody_sends_again_ends_and_says_so() -> None:
    stage = Stage()
    async with stage.running():
        await asyncio.sleep(LASTS.total_seconds() + 10)
        began = stage.clock.now()
        await stage.receiver.take([sent(began), sent(began, "gpu-b01", lasts=minutes(60))])
        await asyncio.sleep(LASTS.total_seconds() - 10)
        assert (await stage.ends())["gpu-a01"] == "firing"
        await asyncio.sleep(30)
        assert await stage.ends() == {
            "gpu-a01": "resolved it was not sent again in time",
            "gpu-b01": "firing",
        }
        over, other = await stage.rows(Incident)
        assert over.resolved_at == began + LASTS
        assert other.is_open


async def test_senders_get_as_long_again_after_a_restart() -> None:
    stage = Stage()
    async with stage.running():
        await stage.receiver.take([sent(stage.clock.now())])
    await asyncio.sleep(3600)
    stage.process()
    async with stage.running():
        await _falls_silent_now(stage)


async def test_senders_get_as_long_again_after_the_machine_slept() -> None:
    stage = Stage()
    async with stage.running():
        await stage.receiver.take([sent(stage.clock.now())])
        await asyncio.sleep(10)
        stage.clock.ahead = minutes(60)
        await _falls_silent_now(stage)


async def _falls_silent_now(stage: Stage) -> None:
    await asyncio.sleep(LASTS.total_seconds() - 10)
    assert await stage.ends() == {"gpu-a01": "firing"}
    await asyncio.sleep(30)
    assert await stage.ends() == {"gpu-a01": "resolved it was not sent again in time"}


async def _over_after_a_minute(stage: Stage) -> ReceivedAlert:
    """Return the end of an alert that was received a minute ago; the end is not received yet."""
    began = stage.clock.now()
    await stage.receiver.take([sent(began)])
    await asyncio.sleep(60)
    return sent(stage.clock.now(), began=began, lasts=timedelta())


async def test_an_end_that_is_repeated_opens_nothing_and_a_new_beginning_is_a_new_life() -> None:
    stage = Stage()
    async with stage.running():
        over = await _over_after_a_minute(stage)
        for _ in range(3):
            await stage.receiver.take([over])
        stage.process()
    async with stage.running():
        before = stage.store.commits
        await stage.receiver.take([over])
        assert stage.store.commits == before
        await asyncio.sleep(3600)
        await stage.receiver.take([sent(stage.clock.now())])
        assert [one.is_open for one in await stage.rows(Incident)] == [False, True]


async def test_merged_alerts_have_the_earliest_start_and_the_latest_end() -> None:
    """Alertmanager's TestMergeAlerts: replicas send one alert with other times, and end it at other times."""

    def said(text: str, began: float, ended: float | None = None) -> ReceivedAlert:
        one = sent(stage.clock.now(), began=start + timedelta(seconds=began))
        ends_at = one.ends_at if ended is None else start + timedelta(seconds=ended)
        return replace(one, annotations={"summary": text}, ends_at=ends_at)

    stage = Stage()
    async with stage.running():
        start = stage.clock.now()
        for at, one in (
            (1.0, ("v0", 1.1)),
            (1.2, ("v0", 1.0)),
            (2.1, ("v1", 2.0)),
            (3.6, ("v2", 1.5)),
            (4.6, ("v2", 3.0, 4.5)),
            (4.8, ("v3", 2.9, 4.8)),
            (4.9, ("v3", 2.9, 4.1)),
        ):
            await asyncio.sleep(at - (stage.clock.now() - start).total_seconds())
            await stage.receiver.take([said(*one)])
        (alert,) = await stage.rows(Alert)
        assert (alert.life.since, alert.life.resolved_at, alert.annotations["summary"]) == (
            start + timedelta(seconds=1.0),
            start + timedelta(seconds=4.8),
            "v3",
        )
        (incident,) = await stage.rows(Incident)
        assert incident.times == 1
        await asyncio.sleep(0.5)
        await stage.receiver.take([said("v4", 5.0)])
        (alert,) = await stage.rows(Alert)
        assert (alert.life.since, alert.is_firing) == (start + timedelta(seconds=5.0), True)


async def test_replicas_that_end_an_alert_seconds_apart_end_it_once() -> None:
    stage = Stage()
    async with stage.running():
        began = stage.clock.now()
        await stage.receiver.take([sent(began)])
        for seconds in (60, 72):
            await asyncio.sleep(seconds - (stage.clock.now() - began).total_seconds())
            await stage.receiver.take([sent(stage.clock.now(), began=began, lasts=timedelta())])
        (incident,) = await stage.rows(Incident)
        assert (incident.times, incident.is_open) == (1, False)


@pytest.mark.parametrize("failures", [1, 2, 3])
async def test_what_was_not_stored_is_refused_and_nothing_is_stored_twice(
    looptime: Any, failures: int
) -> None:
    stage = Stage()
    async with stage.running():
        await asyncio.sleep(1)
        stage.store.failures = failures
        refusals = 0
        while True:
            try:
                await stage.receiver.take([sent(NOON), sent(NOON, "gpu-b01")])
                break
            except BusyError:
                refusals += 1
        assert refusals == failures
        assert (
            len(await stage.rows(Alert))
            == len(await stage.rows(Incident))
            == len(await stage.rows(PostedCard))
            == 2
        )


async def test_more_than_may_wait_is_refused() -> None:
    stage = Stage()
    with pytest.raises(BusyError, match="not stored within 20 s"):  # nothing runs that would store them
        await stage.receiver.take([sent(NOON)])
    with pytest.raises(BusyError, match=f"{MOST_WAITING} alerts wait"):
        await stage.receiver.take([sent(NOON)] * MOST_WAITING)


async def test_a_body_that_is_larger_than_what_may_wait_is_taken_alone() -> None:
    stage = Stage()
    async with stage.running():
        await stage.receiver.take([sent(stage.clock.now())] * (MOST_WAITING + 1))
        assert len(await stage.rows(Alert)) == 1


async def test_the_end_of_an_alert_first_seen_long_ago_is_not_forgotten_by_a_restart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(receiver, "RESTORED", 1)
    stage = Stage()
    async with stage.running():
        began = stage.clock.now()
        await stage.receiver.take([sent(began)])
        await stage.receiver.take([sent(began, "gpu-b01")])
        await asyncio.sleep(60)
        over = [
            sent(stage.clock.now(), node, began=began, lasts=timedelta()) for node in ("gpu-a01", "gpu-b01")
        ]
        await stage.receiver.take(over)
    stage.process()
    async with stage.running():
        before = stage.store.commits
        await stage.receiver.take(over)
        assert stage.store.commits == before


async def test_an_end_of_the_last_life_does_not_end_the_new_one() -> None:
    stage = Stage()
    async with stage.running():
        over = await _over_after_a_minute(stage)
        await stage.receiver.take([over])
        await asyncio.sleep(10)
        again = stage.clock.now()
        await stage.receiver.take([sent(again)])
        await stage.receiver.take([over])
        await asyncio.sleep(30)
        assert await stage.ends() == {"gpu-a01": "firing"}
        long_ago = again - timedelta(days=9)  # nobody repeats this: somebody ends the alert
        await stage.receiver.take([sent(long_ago, lasts=timedelta())])
        assert await stage.ends() == {"gpu-a01": "resolved"}


async def test_what_began_long_ago_does_not_read_the_book_again(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = 0
    load = IncidentRecorder._load

    async def counted(self: IncidentRecorder, *given: Any) -> Any:
        nonlocal loads
        loads += 1
        return await load(self, *given)

    monkeypatch.setattr(IncidentRecorder, "_load", counted)
    stage = Stage()
    async with stage.running():
        for node in ("gpu-a01", "gpu-a02", "gpu-b01"):
            await stage.receiver.take([sent(stage.clock.now(), node)])
            await stage.receiver.take([sent(stage.clock.now(), node, lasts=timedelta())])
        await asyncio.sleep(5 * 3600)
        await stage.receiver.take([sent(stage.clock.now(), "gpu-b02")])
        for node in ("gpu-a01", "gpu-a02", "gpu-b01"):
            old = sent(stage.clock.now(), node, began=NOON - timedelta(days=1), alertname="FanDown")
            await stage.receiver.take([old])
        assert loads == 1


async def test_the_label_says_which_cluster_it_is_of() -> None:
    stage = Stage(clusters=(CLUSTER, "prod-b"))
    async with stage.running():
        await stage.receiver.take(
            [sent(NOON, cluster="prod-b"), sent(NOON, "gpu-a02", cluster="elsewhere"), sent(NOON, "gpu-a03")]
        )
        clusters = {one.labels["node"]: one.cluster for one in await stage.rows(Alert)}
        assert clusters == {"gpu-a01": "prod-b", "gpu-a02": CLUSTER, "gpu-a03": CLUSTER}


async def test_the_settings_may_say_which_cluster_the_others_are_of() -> None:
    stage = Stage(clusters=(CLUSTER, "prod-b"))
    stage.receiver = stage.a_receiver(default="prod-b")
    async with stage.running():
        await stage.receiver.take([sent(NOON), sent(NOON, "gpu-a02", cluster=CLUSTER)])
        clusters = {one.labels["node"]: one.cluster for one in await stage.rows(Alert)}
        assert clusters == {"gpu-a01": "prod-b", "gpu-a02": CLUSTER}


async def test_what_was_held_back_is_notified_when_it_may_be_though_nobody_sends() -> None:
    noon = TimeInterval(name="noon", periods=(read_period(times=[("12:00", "12:10")]),))
    stage = Stage()
    routing = CardRouting(routes=(Route(channels=("C1",), mutes=(noon,)),))
    recorder = IncidentRecorder(CLUSTER, stage.store, routing)
    inlet = Inlet(recorder=recorder, topology=a_topology, rules=dict, lacks_cards=recorder.lacks_cards)
    stage.receiver = Receiver({CLUSTER: inlet}, stage.store, stage.clock, lasts=minutes(60))
    async with stage.running():
        await stage.receiver.take([sent(NOON, lasts=minutes(60))])
        assert await stage.rows(PostedCard) == []
        await asyncio.sleep(minutes(11).total_seconds())
        assert [card.channel for card in await stage.rows(PostedCard)] == ["C1"]


class Killed(BaseException):
    """The process is gone."""


def killed_at(number: int) -> Callable[[], None]:
    """Return what is called at each await on the store, and raises at one of them."""
    counted = [0]

    def look() -> None:
        counted[0] += 1
        if counted[0] == number:
            raise Killed

    return look


class MortalStore(FailingStore):
    """A store at each await of which the process may die."""

    look: Callable[[], None] = staticmethod(lambda: None)

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Unit]:
        self.look()
        async with super().unit() as unit:
            yield _MortalUnit(unit, self)
            self.look()
        self.look()  # committed, and nobody knows it


@dataclass
class _MortalUnit:
    unit: Unit
    store: MortalStore

    def rows(self, row: type[Any]) -> Any:
        return _MortalRows(self.unit.rows(row), self.store)

    async def next_number(self, of: str, count: int = 1) -> int:
        self.store.look()
        return await self.unit.next_number(of, count)


@dataclass
class _MortalRows:
    rows: Any
    store: MortalStore

    def __getattr__(self, name: str) -> Any:
        async def call(*given: Any, **named: Any) -> Any:
            self.store.look()
            return await getattr(self.rows, name)(*given, **named)

        return call


async def test_no_await_on_the_store_is_a_place_to_die_at() -> None:
    for number in range(1, 200):
        store = MortalStore()
        stage = Stage(store=store)
        at = stage.clock.now()
        alerts = [
            sent(at),
            sent(at, "gpu-b01"),
            sent(at, lasts=timedelta(), began=at - minutes(9), node="gpu-c01"),
        ]
        look = killed_at(number)
        store.look = look
        was_taken = False
        with suppress(BaseExceptionGroup, Killed):
            async with asyncio.TaskGroup() as group:
                task = group.create_task(_dying(stage.receiver))
                try:
                    await stage.receiver.take(alerts)
                    was_taken = True
                except BusyError:
                    pass
                task.cancel()
        store.look = lambda: None
        stage.process()
        async with stage.running():
            if not was_taken:
                await stage.receiver.take(alerts)
            ends = await stage.ends()
            assert ends == {"gpu-a01": "firing", "gpu-b01": "firing", "gpu-c01": "resolved"}, number
            assert len(await stage.rows(Incident)) == len(await stage.rows(PostedCard)) == 3, number
        if was_taken:
            return
    raise AssertionError("there are more awaits than were tried")


async def _dying(receiver: Receiver) -> None:
    """Run until the process dies. Its end is expected."""
    with suppress(Killed):
        await receiver.run()
