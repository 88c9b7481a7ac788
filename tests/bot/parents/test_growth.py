"""Growth of a parent incident: the channel hears when it is twice as large, and not while it still comes."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import pytest

from tests.support.storm_stage import EVERY, StormStage, a_site, racks

pytestmark = pytest.mark.looptime

NODES = racks(1, 64)
FEW = list(NODES)[:16]
LATER = 180.0  # seconds
SOON = 20.0


@asynccontextmanager
async def after_few(trainings: Mapping[str, Sequence[str]] | None = None) -> AsyncIterator[StormStage]:
    """A quarter of the nodes fails long before the block."""
    stage = StormStage(topology=a_site(NODES, trainings=trainings))
    async with stage.delivering():
        await stage.fire(FEW, ["NodeNotReady"])
        await asyncio.sleep(LATER)
        yield stage


def said(stage: StormStage) -> list[str]:
    """Return the first line of each message in the channel's threads that says how it grew."""
    everything = stage.slack.lookalike.everything(stage.slack.channel)
    return [
        one.text.split("\n")[0]
        for one in everything
        if one.is_reply and ("grown" in one.text or "GPUs are" in one.text)
    ]


async def test_one_that_doubles_is_said_in_the_channel_once() -> None:
    async with after_few() as stage:
        await stage.fire(list(NODES)[16:40], ["NodeNotReady"])
        for _ in range(20):
            await stage.cycle()
            await asyncio.sleep(EVERY.total_seconds())
        announced = [one for one in stage.slack.cards if "grown" in one.text]
    assert said(stage) == [
        "It has grown from 16 to 40 nodes: 40 nodes of rack r1 have alerts: NodeNotReady on 40"
    ]
    assert len(announced) == 1  # broadcast
    assert "Acknowledge all" in str(announced[0].blocks) + str(announced[0].attachments)


async def test_one_that_grows_by_less_is_not() -> None:
    async with after_few() as stage:
        await stage.fire(list(NODES)[16:30], ["NodeNotReady"])
        await asyncio.sleep(SOON)
    assert said(stage) == []


async def test_what_comes_within_two_minutes_is_said_as_one() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        for size in (8, 16, 32, 64):
            await stage.fire(list(NODES)[size // 2 if size > 8 else 0 : size], ["NodeNotReady"])
            await asyncio.sleep(EVERY.total_seconds())
        assert said(stage) == []
        for _ in range(12):
            await stage.cycle()
            await asyncio.sleep(EVERY.total_seconds())
    assert said(stage) == [
        "It has grown from 8 to 64 nodes: 64 nodes of rack r1 have alerts: NodeNotReady on 64"
    ]


async def test_what_shrank_and_came_back_has_not_grown() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        alerts = await stage.fire(FEW, ["NodeNotReady"])
        await stage.end(alerts[8:])
        await asyncio.sleep(LATER)
        await stage.fire(FEW[8:], ["NodeNotReady"])
        await asyncio.sleep(SOON)
    assert said(stage) == []


async def test_a_large_training_that_is_affected_is_said() -> None:
    large = list(NODES)[16:28]
    async with after_few({"vision/detr": large}) as stage:
        await stage.fire(large[:1], ["NodeNotReady"])
        await asyncio.sleep(SOON)
    assert [one.partition(":")[0] for one in said(stage)] == [
        "Trainings with 96 GPUs are affected now, up from 0"
    ]


async def test_a_restart_says_nothing_again() -> None:
    async with after_few() as stage:
        await stage.fire(list(NODES)[16:40], ["NodeNotReady"])
        await asyncio.sleep(SOON)
        stage.restart()
        for _ in range(20):
            await stage.cycle()
            await asyncio.sleep(EVERY.total_seconds())
    assert len(said(stage)) == 1
