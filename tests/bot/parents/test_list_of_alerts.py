"""The list that is attached to the card of many nodes: it names every alert, and few lists are attached."""

import asyncio
import re
from collections import Counter

import pytest

from tests.support.storm_stage import EVERY, RULES, StormStage, a_site, racks

pytestmark = pytest.mark.looptime

NODES = racks(5, 20)


def listed(stage: StormStage) -> Counter[tuple[str, str]]:
    """Return each node with each name that stands in its line of the last list."""
    workspace = stage.slack.lookalike.workspace
    last = list(workspace.contents.values())[-1].decode()
    words = [set(re.findall(r"[\w-]+", line)) for line in last.splitlines()]
    return Counter(
        (node, name) for line in words for node in NODES.keys() & line for name in line & set(RULES)
    )


def files(stage: StormStage) -> int:
    return stage.slack.lookalike.workspace.ledger.count("files.completeUploadExternal", "ok")


async def test_the_list_names_every_alert_of_every_node() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        await stage.fire(NODES)
        await asyncio.sleep(20)
    assert listed(stage) == {(node, name): 1 for node in NODES for name in RULES}
    assert files(stage) == 1


async def test_alerts_that_come_later_to_the_same_nodes_are_listed_too() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        for name in RULES:
            await stage.fire(NODES, [name])
            await asyncio.sleep(EVERY.total_seconds())
        await asyncio.sleep(20)
    assert listed(stage) == {(node, name): 1 for node in NODES for name in RULES}
    assert files(stage) <= len(RULES)


async def test_alerts_that_trickle_in_for_an_hour_are_in_a_few_lists() -> None:
    stage = StormStage(topology=a_site(NODES))
    async with stage.delivering():
        await stage.fire(NODES, [RULES[0]])
        for node in list(NODES)[:60]:
            await stage.fire([node], [RULES[1]])
            await asyncio.sleep(60)
        for _ in range(200):  # a cycle attaches what is due
            await stage.cycle()
            await asyncio.sleep(EVERY.total_seconds())
    assert listed(stage)[list(NODES)[59], RULES[1]] == 1
    assert files(stage) <= 15
