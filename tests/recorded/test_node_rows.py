"""Faults of nodes and kubelets, in every dialect of their pages that charts, agents and relabelling give."""

from functools import partial

import pytest

from demo.parts.prometheus import PrometheusServer
from tests.recorded.table import DOWN, EPISODES, FAULTY, FULL, HOSTS, MINUTE
from tests.support.recorded_loop import rule_loop
from tests.support.recorded_objects import objects_at
from tests.support.scrape_styles import STYLES

RULES = ("NodeMemoryHighUtilization", "NodeFilesystemSpaceFillingUp", "NodeTargetDown", "TargetDown")


@pytest.mark.parametrize("host", HOSTS)
async def test_each_node_has_its_card(recordings: PrometheusServer, host: str) -> None:
    one = EPISODES[f"node, {host}"]
    objects = partial(objects_at, one.cluster)
    async with rule_loop(recordings.url, objects, start=one.begins - 2 * MINUTE, rules=RULES) as loop:
        await loop.run(one.begins + 8 * MINUTE)
        found = {incident.subject.node: incident for incident in await loop.incidents()}
        cards = await loop.shown()
        assert set(found) == {FAULTY, FULL, DOWN}
        assert len(cards) == 3
        for node, incident in found.items():
            assert node in cards[incident.id].splitlines()[0]
            assert incident.opened_at <= one.begins + 7 * MINUTE
            button = "node show" if node == DOWN else "node cordon"
            assert f"{button} {node}" in cards[incident.id]
        await loop.run(one.fixed + 4 * MINUTE)
        assert not await loop.incidents(is_open=True)


@pytest.mark.parametrize("style", [one.name for one in STYLES])
async def test_a_kubelet_whose_relists_are_slow(recordings: PrometheusServer, style: str) -> None:
    one = EPISODES[f"kubelet, {style}"]
    objects = partial(objects_at, one.cluster)
    rules = ("KubeletPlegDurationHigh", "KubeletRuntimeErrors", "KubeletPodStartUpLatencyHigh")
    async with rule_loop(recordings.url, objects, start=one.begins - 2 * MINUTE, rules=rules) as loop:
        await loop.run(one.fixed - MINUTE)
        (incident,) = await loop.incidents()
        ((_, card),) = (await loop.shown()).items()
        assert incident.subject.node == FAULTY
        assert FAULTY in card.splitlines()[0]
        assert f"train-{FAULTY}" in card
        await loop.run(one.fixed + 9 * MINUTE)
        assert not await loop.incidents(is_open=True)
