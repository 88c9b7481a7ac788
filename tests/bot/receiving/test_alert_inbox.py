"""The inbox of alerts: what was accepted is kept, and has its effects once, whenever the process ends."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.incidents.incident import Incident
from alerts.kept_bodies import InboxMark, Numbered
from alerts.received import ReceivedAlert
from alerts.routing import CardRouting
from alerts.store import StoreError
from bot.evaluation.recorder import IncidentRecorder
from bot.receiving import alert_inbox
from bot.receiving.alert_inbox import AlertInbox
from bot.receiving.receiver import BusyError, Delivery, Inlet, Receiver
from collectors.facts.labels import Labels
from tests.support.alerting import CLUSTER, a_topology, minutes
from tests.support.chat import LoopClock
from tests.support.memory_bodies import MemoryBodies
from tests.support.memory_store import MemoryStore

pytestmark = pytest.mark.looptime

LASTS = minutes(5)
OTHER = "prod-b"


@dataclass
class Stage:
    """An inbox with its receiver. `process()` makes both again, as a restart does."""

    store: MemoryStore = field(default_factory=MemoryStore)
    bodies: MemoryBodies = field(default_factory=MemoryBodies)
    clock: LoopClock = field(default_factory=LoopClock)
    receiver: Receiver = field(init=False)
    inbox: AlertInbox = field(init=False)

    def __post_init__(self) -> None:
        self.process()

    def process(self) -> None:
        inlets = {
            name: Inlet(
                recorder=IncidentRecorder(name, self.store, CardRouting(default="C1")),
                topology=a_topology,
                rules=dict,
            )
            for name in (CLUSTER, OTHER)
        }
        self.receiver = Receiver(inlets, self.store, self.clock, lasts=LASTS)
        self.inbox = AlertInbox(self.receiver, self.bodies, self.store, self.clock)

    @asynccontextmanager
    async def running(self, *, receives: bool = True) -> AsyncIterator[None]:
        """Run both, or the inbox alone: then nothing has effects."""
        async with asyncio.TaskGroup() as group:
            if not receives:
                await self.receiver.restore()
            works = [self.inbox.run, *([self.receiver.run] if receives else [])]
            tasks = [group.create_task(work()) for work in works]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()

    async def rows(self, row: type[Any]) -> list[Any]:
        async with self.store.read() as snapshot:
            return list(await snapshot.rows(row).find())

    async def states(self) -> dict[str, str]:
        return {one.labels["node"]: str(one.life.state) for one in await self.rows(Alert)}

    def sent(
        self, node: str, *, began: datetime | None = None, lasts: timedelta = LASTS, **labels: str
    ) -> ReceivedAlert:
        now = self.clock.now()
        return ReceivedAlert(
            labels=Labels({"alertname": "LinkDown", "severity": "critical", "node": node, **labels}),
            annotations={"summary": f"A link of {node} is down."},
            starts_at=began or now,
            ends_at=now + lasts,
        )


async def test_alerts_are_accepted_before_their_effects_are_stored_and_a_restart_stores_them() -> None:
    stage = Stage()
    async with stage.running(receives=False):
        await stage.inbox.accept([stage.sent("gpu-a01"), stage.sent("gpu-b01")])
        assert await stage.rows(Alert) == []
    stage.process()
    async with stage.running():
        await stage.inbox.settled()
        assert await stage.states() == {"gpu-a01": "firing", "gpu-b01": "firing"}
        await asyncio.sleep(5)
        assert stage.bodies.kept == {}


async def _never(_: Sequence[Numbered]) -> None:
    await asyncio.Event().wait()


async def _full(_: Sequence[Numbered]) -> None:
    raise StoreError("disk full")


@pytest.mark.parametrize("append", [_never, _full])
async def test_one_that_comes_alone_is_accepted_with_its_effects_if_it_is_not_kept_before(
    append: Any,
) -> None:
    stage = Stage()
    stage.bodies.append = append  # type: ignore[method-assign]
    async with stage.running():
        await asyncio.sleep(1)
        async with asyncio.timeout(1):
            await stage.inbox.accept([stage.sent("gpu-a01")])
        assert await stage.states() == {"gpu-a01": "firing"}
        await stage.inbox.settled()
    del stage.bodies.append
    stage.process()
    async with stage.running():
        await stage.inbox.accept([stage.sent("gpu-b01")])
        await stage.inbox.settled()
        assert await stage.states() == {"gpu-a01": "firing", "gpu-b01": "firing"}
        assert len(await stage.rows(Incident)) == 2


async def test_one_that_comes_alone_is_refused_if_neither_it_nor_its_effects_can_be_stored() -> None:
    async def busy(_: Sequence[Delivery]) -> None:
        raise BusyError("they could not be stored")

    stage = Stage()
    async with stage.running():
        await asyncio.sleep(1)
        with pytest.MonkeyPatch.context() as faults:
            faults.setattr(stage.bodies, "append", _full)
            faults.setattr(stage.receiver, "take_kept", busy)
            with pytest.raises(BusyError, match="could not be stored"):
                await stage.inbox.accept([stage.sent("gpu-a01")])
            assert await stage.states() == {}
        await stage.inbox.accept([stage.sent("gpu-a01")])
        await stage.inbox.settled()
        assert await stage.states() == {"gpu-a01": "firing"}
        assert len(await stage.rows(Incident)) == 1


async def test_a_reader_sees_what_was_accepted_before() -> None:
    stage = Stage()
    async with stage.running():
        for number in range(5):
            await stage.inbox.accept([stage.sent(f"gpu-{number}")])
        await stage.inbox.settled()
        assert len(await stage.rows(Alert)) == 5


async def test_a_person_waits_a_moment_for_what_is_not_shown_and_learns_how_much_it_is() -> None:
    stage = Stage()
    async with stage.running(receives=False):
        await stage.inbox.accept([stage.sent("gpu-a01"), stage.sent("gpu-b01")])
        began = asyncio.get_running_loop().time()
        assert await stage.inbox.caught_up() == 2
        assert asyncio.get_running_loop().time() - began == alert_inbox.CAUGHT_UP_WITHIN
    stage.process()
    async with stage.running():
        await stage.inbox.accept([stage.sent("gpu-c01")])
        assert await stage.inbox.caught_up() == 0
        assert len(await stage.rows(Alert)) == 3


async def test_a_reader_is_refused_while_what_was_accepted_is_not_shown() -> None:
    stage = Stage()
    async with stage.running(receives=False):
        await stage.inbox.accept([stage.sent("gpu-a01")])
        with pytest.raises(BusyError, match="1 alerts that were accepted are not shown yet"):
            await stage.inbox.settled()


async def test_what_was_stored_and_not_deleted_has_no_effect_again() -> None:
    """A beginning, its end and a beginning again, brought twice: one more life each time, if they counted twice."""
    stage = Stage()
    async with stage.running():
        began = stage.clock.now()
        await stage.inbox.accept([stage.sent("gpu-a01")])
        await asyncio.sleep(10)
        await stage.inbox.accept([stage.sent("gpu-a01", began=began, lasts=timedelta())])
        await asyncio.sleep(10)
        kept: dict[int, bytes] = {}
        for again in ("gpu-a01", "gpu-b01"):
            await stage.inbox.accept([stage.sent(again)])
            kept |= stage.bodies.kept
            await stage.inbox.settled()
        before = await stage.rows(Alert), await stage.rows(Incident)
    stage.bodies.kept = kept
    stage.process()
    async with stage.running():
        await stage.inbox.settled()
        await asyncio.sleep(1)
        assert (await stage.rows(Alert), await stage.rows(Incident)) == before


async def test_a_crash_between_the_commits_of_two_clusters_counts_neither_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage = Stage()
    record = IncidentRecorder.record

    async def dies_in_the_other(self: IncidentRecorder, *given: Any, **named: Any) -> None:
        if self._cluster == OTHER:
            raise OSError("the process ends here")
        await record(self, *given, **named)

    monkeypatch.setattr(IncidentRecorder, "record", dies_in_the_other)
    began = stage.clock.now()
    with suppress(BaseExceptionGroup):
        async with stage.running():
            await stage.inbox.accept(
                [
                    stage.sent("gpu-a01", began=began),
                    stage.sent("gpu-a01", began=began, lasts=timedelta()),
                    stage.sent("gpu-a01"),
                    stage.sent("gpu-b01", cluster=OTHER),
                ]
            )
            await asyncio.sleep(1)
    (first,) = await stage.rows(Incident)
    assert [mark.cluster for mark in await stage.rows(InboxMark)] == [CLUSTER]
    monkeypatch.setattr(IncidentRecorder, "record", record)
    stage.process()
    async with stage.running():
        await stage.inbox.settled()
        incidents = {one.cluster: one for one in await stage.rows(Incident)}
        assert incidents[CLUSTER] == first
        assert incidents[OTHER].is_open


async def test_what_was_accepted_long_ago_counts_as_of_then_and_its_sender_gets_as_long_again() -> None:
    stage = Stage()
    async with stage.running(receives=False):
        await stage.inbox.accept([stage.sent("gpu-a01")])
    await asyncio.sleep(3600)
    stage.process()
    async with stage.running():
        await stage.inbox.settled()
        await asyncio.sleep(LASTS.total_seconds() - 10)
        assert await stage.states() == {"gpu-a01": "firing"}
        await asyncio.sleep(30)
        assert await stage.states() == {"gpu-a01": "resolved"}


async def test_more_than_may_wait_is_refused_and_none_of_the_others_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(alert_inbox, "MOST_WAITING", 3)
    stage = Stage()
    async with stage.running(receives=False):
        await stage.inbox.accept([stage.sent(f"gpu-{number}") for number in range(5)])  # alone
        with pytest.raises(BusyError, match="5 alerts wait to be stored"):
            await stage.inbox.accept([stage.sent("gpu-x")])
    stage.process()
    async with stage.running():
        await stage.inbox.settled()
        await stage.inbox.accept([stage.sent("gpu-x")])
        await stage.inbox.settled()
        assert len(await stage.rows(Alert)) == 6


async def test_what_cannot_be_kept_is_refused_and_the_next_is_accepted() -> None:
    stage = Stage()
    async with stage.running():
        stage.bodies.fails = True
        with pytest.raises(BusyError, match="could not be stored"):
            await stage.inbox.accept([stage.sent("gpu-a01")])
        stage.bodies.fails = False
        await stage.inbox.accept([stage.sent("gpu-b01")])
        await stage.inbox.settled()
        assert await stage.states() == {"gpu-b01": "firing"}


async def test_nothing_more_is_accepted_while_effects_cannot_be_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fails(*_: Any, **__: Any) -> None:
        raise OSError("disk full")

    stage = Stage()
    with monkeypatch.context() as faults, suppress(BaseExceptionGroup):
        faults.setattr(IncidentRecorder, "record", fails)
        async with stage.running():
            await stage.inbox.accept([stage.sent("gpu-a01")])
            await asyncio.sleep(1)
    with pytest.raises(BusyError, match="could not be stored"):
        await stage.inbox.accept([stage.sent("gpu-b01")])
    async with stage.running():
        await asyncio.sleep(1)
        await stage.inbox.accept([stage.sent("gpu-b01")])
        await stage.inbox.settled()
        assert await stage.states() == {"gpu-a01": "firing", "gpu-b01": "firing"}


async def test_without_a_place_to_keep_bodies_alerts_are_accepted_once_their_effects_are_stored() -> None:
    stage = Stage()
    stage.inbox = AlertInbox(stage.receiver, None, stage.store, stage.clock)
    async with stage.running():
        await stage.inbox.accept([stage.sent("gpu-a01")])
        assert await stage.states() == {"gpu-a01": "firing"}
        await stage.inbox.settled()


async def test_alerts_have_effects_though_senders_never_pause() -> None:
    stage = Stage()
    async with stage.running():
        await stage.inbox.accept([stage.sent("gpu-b01")])
        await stage.inbox.settled()
        for number in range(400):
            await stage.inbox.accept([stage.sent("gpu-a01", port=str(number))])
            await asyncio.sleep(0.01)
            if len(await stage.rows(Alert)) > 2:
                break
        assert number < 250
