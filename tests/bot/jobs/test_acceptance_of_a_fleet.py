"""A fleet of 200 simulated nodes is accepted, in virtual time: two models, and every way in which a node is not well.

Each node prints what the tools print, and its plan ends. The watcher judges it as it judges real ones.
"""

from collections import Counter
from datetime import timedelta

import pytest

from alerts.cards.posted import ThreadReply
from alerts.cards.text import plain
from commands.acceptance.acceptance import AcceptanceState
from commands.acceptance.suites import AcceptancePolicy
from tests.bot.jobs.simulated_fleet import LAB, TAKES, Fleet, a_fleet


@pytest.mark.parametrize("has_metrics", [True, False], ids=["with metrics", "without metrics of throttling"])
async def test_exactly_the_nodes_that_are_well_are_accepted_each_other_with_its_reason(
    has_metrics: bool,
) -> None:
    fleet, nodes = Fleet(), a_fleet()
    watcher = fleet.watcher(AcceptancePolicy(ends_lease=False))
    for first in range(0, len(nodes), 2):  # one of each model at once
        pair = nodes[first : first + 2]
        for node in pair:
            await fleet.begin(node)
        await watcher.check()
        fleet.clock.move(TAKES)
        for node in pair:
            await fleet.end(node)
            await watcher.check()
        fleet.clock.move(timedelta(minutes=5))
        for node in pair:
            if node.lies and has_metrics:
                await fleet.throttle(node, fleet.clock.now())
        await watcher.check()
    found = await fleet.verdicts()
    expected = {
        node.name: AcceptanceState.SLOW
        if node.slow is not None
        else AcceptanceState.FAILED
        if node.broken is not None or node.hangs
        else AcceptanceState.WITHDRAWN
        if node.lies and has_metrics
        else AcceptanceState.ACCEPTED
        for node in nodes
    }
    assert {name: one.state for name, one in found.items()} == expected
    assert Counter(expected.values())[AcceptanceState.ACCEPTED] == (180 if has_metrics else 182)
    for node in nodes:
        one = found[node.name]
        if node.slow is not None:
            assert [short.gpu for short in one.slow] == [node.slow], one.reasons
            assert one.reasons[0].startswith(f"GPU {node.slow}: memory copy ")
        elif node.broken is not None:
            assert one.reasons[0].startswith(
                f"memory of GPU {node.broken}: Detected 12 double-bit ECC errors"
            )
        elif node.hangs:
            assert one.reasons == ("nccl: it did not finish in time, and was ended",)
        elif node.lies and has_metrics:
            assert one.reasons == ("it passed, and GPUThermalThrottling fired 5 min later",)
    firsts = {node.model: node.name for node in reversed(nodes)}
    assert {one.node for one in found.values() if one.is_first} == set(firsts.values())
    async with fleet.store.read() as snapshot:
        replies = [plain(row.text) for row in await snapshot.rows(ThreadReply).find(cluster=LAB)]
    assert len(replies) == 200 + (2 if has_metrics else 0)
    for model, name in firsts.items():
        said = f"{name} is accepted. It is the first node with {model}: there is nothing to compare its figures with."
        assert said in replies
    assert fleet.lines == []  # the settings do not let it end leases


async def test_a_node_that_was_rebooted_before_its_verdict_is_not_accepted() -> None:
    fleet, (node, *_) = Fleet(), a_fleet()
    watcher = fleet.watcher()
    await fleet.begin(node)
    await fleet.end(node)
    fleet.cluster.reader.boots[node.name] = "another"
    await watcher.check()
    (one,) = (await fleet.verdicts()).values()
    assert (one.state, one.reasons) == (
        AcceptanceState.UNTESTED,
        ("it was rebooted while it was tested",),
    )


async def test_a_verdict_is_stored_and_said_once_whatever_is_killed() -> None:
    fleet, (node, *_) = Fleet(), a_fleet()
    await fleet.begin(node)
    await fleet.end(node)
    for _ in range(3):
        await fleet.watcher().check()  # each is another process
    async with fleet.store.read() as snapshot:
        assert len(await snapshot.rows(ThreadReply).find(cluster=LAB)) == 1
