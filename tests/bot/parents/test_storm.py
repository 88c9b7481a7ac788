"""A storm of 2,000 alerts on 500 nodes in a Slack at its limits: a few posts that name every node."""

import asyncio
import re

import pytest

from tests.support.storm_stage import EVERY, StormStage, a_site, racks

pytestmark = pytest.mark.looptime

NODES = racks(25, 20)
MOST_POSTS = 5
WITHIN = 30  # seconds


def named(stage: StormStage) -> set[str]:
    return set(re.findall(r"\bn\d+-\d\d\b", stage.slack.seen())) & NODES.keys()


async def test_2000_alerts_of_500_nodes_are_a_few_posts_that_name_them_all() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        await stage.fire(NODES)
        await asyncio.sleep(WITHIN)
        assert (len(named(stage)), stage.slack.refused) == (500, 0)
        await asyncio.sleep(600)
    assert stage.slack.posts <= MOST_POSTS
    assert stage.slack.posts == 2  # the card, and the list in its thread


async def test_one_that_comes_over_a_minute_is_as_calm() -> None:
    stage = StormStage(topology=a_site(NODES))
    nodes = list(NODES)
    async with stage.delivering():
        for part in range(4):
            await stage.fire(nodes[part::4])
            await asyncio.sleep(EVERY.total_seconds())
        await asyncio.sleep(WITHIN - EVERY.total_seconds())
        assert len(named(stage)) == 500
        await asyncio.sleep(600)
    assert stage.slack.posts <= MOST_POSTS


async def test_a_restart_posts_nothing_again_and_it_resolves_as_one() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        alerts = await stage.fire(NODES)
        await asyncio.sleep(WITHIN)
    before = stage.slack.posts
    stage.restart()
    async with stage.delivering():
        await stage.cycle()
        await asyncio.sleep(60)
        assert stage.slack.posts == before
        await stage.end(alerts)
        await asyncio.sleep(60)
    assert [card.text for card in stage.slack.cards if not card.is_reply] == [
        "Resolved: 500 nodes of cluster prod-a had alerts"
    ]
    assert stage.slack.posts <= MOST_POSTS
    assert not await stage.incidents(state="open")
