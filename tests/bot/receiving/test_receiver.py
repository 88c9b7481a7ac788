"""The receiver: what it takes is stored once, or refused."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from alerts.alert import Alert
from alerts.cards.posted import PostedCard
from alerts.incidents.incident import Incident
from alerts.routing import CardRouting, Route
from alerts.time_intervals import TimeInterval, read_period
from bot.evaluation.recorder import IncidentRecorder
from bot.receiving.receiver import MOST_WAITING, BusyError, Inlet, Receiver
from tests.support.alerting import CLUSTER, NOON, a_topology, minutes
from tests.support.receiver_stage import LASTS, Stage, sent

pytestmark = pytest.mark.looptime


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
