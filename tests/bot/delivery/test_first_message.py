"""The first message of a card says what happened until then: no reply says it again."""

import asyncio
from datetime import timedelta

import pytest

from alerts.cards.posted import ThreadReply
from alerts.incidents.incident import Incident
from tests.support.storm_stage import StormStage, a_site, racks

pytestmark = pytest.mark.looptime

NODES = racks(1, 20)
NODE, *OTHERS = NODES
SOON = 20.0  # seconds


def threads(stage: StormStage) -> list[str]:
    everything = stage.slack.lookalike.everything(stage.slack.channel)
    return [one.said for one in everything if one.is_reply]


async def test_a_severity_that_rose_before_the_card_was_posted_is_not_said_to_rise() -> None:
    stage = StormStage(topology=a_site(NODES))
    await stage.fire([NODE], ["KubeletDown"], severity="warning")
    await asyncio.sleep(3)
    await stage.fire([NODE], ["NodeNotReady"])
    async with stage.delivering():
        await asyncio.sleep(SOON)
    (card,) = stage.slack.cards
    assert card.said.startswith("*🔴")
    assert threads(stage) == []


async def test_one_that_rises_later_is_said_to() -> None:
    stage = StormStage(topology=a_site(NODES))
    await stage.fire([NODE], ["KubeletDown"], severity="warning")
    async with stage.delivering():
        await asyncio.sleep(SOON)
        await stage.fire([NODE], ["NodeNotReady"])
        await asyncio.sleep(SOON)
    (said,) = threads(stage)
    assert "Severity raised to critical" in said


async def test_what_happened_while_nothing_could_be_posted_is_said_once_by_the_card() -> None:
    stage = StormStage(topology=a_site(NODES))
    await stage.fire([NODE], ["KubeletDown"], severity="warning")
    more = await stage.fire([NODE], ["NodeNotReady"])
    async with stage.delivering():
        await asyncio.sleep(SOON)
        await stage.cycle()  # nothing is made up for
        await asyncio.sleep(SOON)
    stage.restart()
    async with stage.delivering():
        await stage.cycle()
        await stage.end(more)
        await asyncio.sleep(SOON)
    assert threads(stage) == []
    async with stage.store.read() as snapshot:
        assert not await snapshot.rows(ThreadReply).find()
        (incident,) = await snapshot.rows(Incident).find()
    assert incident.is_open


async def test_the_card_of_many_nodes_does_not_say_it_again_either() -> None:
    stage = StormStage(topology=a_site(NODES))
    await stage.fire(NODES, ["KubeletDown"], severity="warning")
    await asyncio.sleep(timedelta(seconds=15).total_seconds())
    await stage.fire(OTHERS, ["NodeNotReady"])
    async with stage.delivering():
        await asyncio.sleep(SOON)
    assert next(one.said for one in stage.slack.cards if not one.is_reply).startswith("*🔴")
    assert not [said for said in threads(stage) if "raised" in said]
