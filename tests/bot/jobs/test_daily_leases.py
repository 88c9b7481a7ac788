"""The daily reminder of cordons: to whom, when on whose clock, once, and what it says."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from pathlib import Path

import pytest

from alerts.cards.posted import CardKind, PostedCard
from bot.cards.daily_lease_cards import daily_message
from bot.jobs.agenda import Agenda
from bot.jobs.daily_leases import DailyLeases, Readers
from bot.jobs.lease_watcher import LeaseWatcher
from collectors.facts.daily_time import DailyTime
from commands.models import CordonLease, DailyReminder
from tests.support.rows import a_lease
from tests.support.yard import CLUSTER, NOON, Yard, text_of, yard_on

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
NODES = ("gpu-a01", "gpu-a02", "gpu-a03")
ZONES = {"slack:U_ANA": "Asia/Shanghai"}
NINE = DailyTime(at=time(9), zone_of=lambda person: ZONES.get(person, "UTC"))


@dataclass
class Stage:
    yard: Yard
    daily: DailyLeases

    async def lease(self, node: str, since: datetime = NOON, **changes: object) -> None:
        uid = self.yard.cluster.inventory().nodes[node].metadata.uid
        until = since + 4 * HOUR
        row = a_lease(since, node, cluster=CLUSTER, owner="slack:U_DANA", until=until, uid=uid)
        async with self.yard.store.unit() as unit:
            await unit.rows(CordonLease).put(replace(row, **changes))  # type: ignore[arg-type]
        await self.watch()

    async def watch(self) -> None:
        watcher = LeaseWatcher(
            self.yard.store, {CLUSTER: self.yard.cluster}, self.yard.clock, follow=self.daily.follow
        )
        await watcher.check()

    async def passes(self, by: timedelta) -> None:
        """Let time pass, and do what is due then, as a process that is started again."""
        self.yard.clock.move(by)
        agenda = Agenda(self.yard.store, self.yard.clock, self.daily.works)
        while await agenda.run_due() == timedelta():
            pass

    async def rows(self) -> list[DailyReminder]:
        async with self.yard.store.read() as snapshot:
            return list(await snapshot.rows(DailyReminder).find())

    async def said(self) -> list[DailyReminder]:
        return [one for one in await self.rows() if one.said_at]

    async def channels(self) -> list[str]:
        async with self.yard.store.read() as snapshot:
            return sorted(
                one.channel for one in await snapshot.rows(PostedCard).find(kind=CardKind.DAILY_LEASES)
            )


def daily(yard: Yard, at: DailyTime = NINE) -> DailyLeases:
    readers = Readers(channel="slack:C", reaches_people=lambda kind: kind == "slack")
    return DailyLeases(yard.store, {CLUSTER: yard.cluster}, yard.clock, daily=at, readers=readers)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with yard_on(tmp_path, *NODES) as yard:
        for node in NODES:
            await yard.do(f"node cordon {node} --reason {'fan' if node == NODES[0] else 'tests'} --for 4h")
        await yard.seen(
            lambda: all(one.spec.unschedulable for one in yard.cluster.inventory().nodes.values())
        )
        async with yard.store.unit() as unit:
            for node in NODES:
                await unit.rows(CordonLease).delete(f"{CLUSTER}/{node}")
        yield Stage(yard, daily(yard))


async def test_an_owner_reads_once_a_day_at_nine_which_nodes_they_keep_out(stage: Stage) -> None:
    await stage.lease(NODES[0], reason="fan")
    await stage.lease(NODES[1], until=NOON + 90 * DAY, reason="a test")
    await stage.passes(20 * HOUR)  # 8:00
    assert await stage.said() == []
    await stage.passes(HOUR)
    await stage.passes(HOUR)
    (first,) = await stage.said()
    assert [one.node for one in first.nodes] == [NODES[0]], "the other is not past its end, nor a day old"
    assert await stage.channels() == ["slack:U_DANA"]
    await stage.passes(DAY)
    _, second = sorted(await stage.said(), key=lambda one: one.at)
    assert [one.node for one in second.nodes] == [NODES[0], NODES[1]]
    shown = text_of(daily_message(second))
    assert "2 nodes that you cordoned are out of service" in shown
    assert "gpu-a01 since 2026-11-21 12:00" in shown
    assert "gpu-a02 since 2026-11-21 12:00 UTC (a test). Waits for: its end at 2027-02-19 12:00 UTC." in shown
    assert f"[Uncordon gpu-a01] node uncordon gpu-a01 --cluster {CLUSTER}" in shown
    assert f"[One more day] node extend gpu-a01 --for 24h --cluster {CLUSTER}" in shown


async def test_nine_is_nine_on_the_clock_of_each(stage: Stage) -> None:
    await stage.lease(NODES[0])
    await stage.lease(NODES[1], owner="slack:U_ANA", owner_name="ana")
    await stage.passes(13 * HOUR)  # 1:00 in UTC, 9:00 in Shanghai
    assert [one.owner for one in await stage.said()] == ["slack:U_ANA"]


async def test_who_cannot_be_reached_is_mentioned_in_the_channel(stage: Stage) -> None:
    await stage.lease(NODES[0], owner="automation:remediation", owner_name="remediation of NodeMemoryHot")
    await stage.passes(21 * HOUR)
    assert await stage.channels() == ["slack:C"]
    (said,) = await stage.said()
    assert "remediation of NodeMemoryHot: 1 node that you cordoned" in text_of(daily_message(said))


async def test_without_a_lease_nothing_is_due_and_a_late_process_waits_for_the_next_day(stage: Stage) -> None:
    await stage.lease(NODES[0])
    assert len(await stage.rows()) == 1
    await stage.passes(34 * HOUR)  # 22:00: too late for nine
    assert await stage.said() == []
    async with stage.yard.store.unit() as unit:
        await unit.rows(CordonLease).delete(f"{CLUSTER}/{NODES[0]}")
    await stage.watch()
    assert await stage.rows() == []


async def test_what_others_lifted_is_not_kept_out_any_more(stage: Stage) -> None:
    await stage.lease(NODES[0])
    await stage.lease(NODES[1])
    async with stage.yard.store.unit() as unit:
        lease = await unit.rows(CordonLease).get(f"{CLUSTER}/{NODES[1]}")
        assert lease is not None
        await unit.rows(CordonLease).put(replace(lease, lifted_at=NOON))
    await stage.passes(21 * HOUR)
    (said,) = await stage.said()
    assert [one.node for one in said.nodes] == [NODES[0]]


async def test_without_an_hour_nobody_is_reminded(stage: Stage) -> None:
    stage.daily = daily(stage.yard, DailyTime(at=None))
    await stage.lease(NODES[0])
    assert (stage.daily.works, await stage.rows()) == ((), [])


@pytest.mark.parametrize(
    ("zone", "moment", "expected"),
    [
        (
            "Europe/Berlin",
            "2026-03-28T09:00+00:00",
            "2026-03-29T07:00+00:00",
        ),  # summer time begins that night
        ("Europe/Berlin", "2026-10-24T09:00+00:00", "2026-10-25T08:00+00:00"),
        ("Pacific/Auckland", "2026-11-21T12:00+00:00", "2026-11-21T20:00+00:00"),
        ("America/Los_Angeles", "2026-11-21T17:00+00:00", "2026-11-22T17:00+00:00"),  # it is nine just now
    ],
)
def test_the_next_hour(zone: str, moment: str, expected: str) -> None:
    at = DailyTime(at=time(9), zone_of=lambda _: zone)
    assert at.next_after(datetime.fromisoformat(moment), "U") == datetime.fromisoformat(expected)
