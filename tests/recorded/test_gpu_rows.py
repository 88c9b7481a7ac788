"""Faults of GPUs, in every dialect of dcgm-exporter and both chart styles: one card for each node."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta

import pytest

from alerts.incidents.incident import Incident
from alerts.rules import Severity
from collectors.cluster.objects import KubernetesObject
from demo.parts.prometheus import PrometheusServer
from tests.recorded.table import EPISODES, MINUTE
from tests.support.gpu_dialects import TEN
from tests.support.recorded_loop import RULES, RuleLoop, rule_loop
from tests.support.recorded_objects import OWNER, holder_id, holder_kind, neighbour, objects_at
from tests.support.scrape_styles import STYLES

NODES = {one.name: one for one in TEN}
ABOUT_GPUS = tuple(name for name in RULES if "GPU" in name and not name.endswith("Logged"))
styles = pytest.mark.parametrize("style", [one.name for one in STYLES])


def loop_of(
    recordings: PrometheusServer, name: str, *, after: timedelta = -2 * MINUTE
) -> AbstractAsyncContextManager[RuleLoop]:
    """Return the loop of an episode, which starts so long after the fault begins."""
    one = EPISODES[name]
    neighbours = [thing for node in TEN for thing in neighbour(node.name, owner="ana")]

    def objects(at: datetime) -> list[KubernetesObject]:
        return objects_at(one.cluster, at, *neighbours)

    return rule_loop(recordings.url, objects, start=one.begins + after, rules=ABOUT_GPUS)


async def by_node(loop: RuleLoop) -> Mapping[str, tuple[Incident, str]]:
    """Return the incident of each node with its card, which names the node in its title and suggests to cordon it."""
    found = {incident.subject.node: incident for incident in await loop.incidents()}
    cards = await loop.shown()
    assert set(found) == set(NODES)
    assert len(cards) == len(NODES), "one card for each node"
    for node, incident in found.items():
        assert node in cards[incident.id].splitlines()[0]
        assert f"node cordon {node}" in cards[incident.id]
    return {node: (incident, cards[incident.id]) for node, incident in found.items()}


async def is_over_at(loop: RuleLoop, at: datetime) -> None:
    await loop.run(at)
    assert not await loop.incidents(is_open=True)


@styles
async def test_a_hot_gpu(recordings: PrometheusServer, style: str) -> None:
    one = EPISODES[f"hot, {style}"]
    async with loop_of(recordings, f"hot, {style}") as loop:
        await loop.run(one.begins + 4 * MINUTE)
        assert not await loop.incidents()
        await loop.run(one.fixed - MINUTE / 2)
        for node, (incident, card) in (await by_node(loop)).items():
            assert incident.opened_at <= one.begins + 7 * MINUTE
            title = card.splitlines()[0]
            assert "GPU 0" in title
            assert "95 °C" in title
            assert holder_name(node) in card
            assert OWNER in card
            assert f"next-{node}" not in card, "its GPU is another one"
        await is_over_at(loop, one.fixed + 5 * MINUTE)


def holder_name(node: str) -> str:
    return NODES[node].holder[1].removesuffix("-0")


@styles
async def test_xid_79_is_over_when_the_gpu_is_offered_again(recordings: PrometheusServer, style: str) -> None:
    one = EPISODES[f"xid, {style}"]
    async with loop_of(recordings, f"xid, {style}") as loop:
        await loop.run(one.begins + 2 * MINUTE)
        for node, (incident, card) in (await by_node(loop)).items():
            assert incident.severity is Severity.CRITICAL
            assert "XID 79" in card
            assert "GPU 0" in card
            assert holder_name(node) in card
            assert OWNER in card
        await loop.run(one.fixed + 17 * MINUTE)
        assert len(await loop.incidents(is_open=True)) == len(NODES), "time does not heal it"
        await is_over_at(loop, one.fixed + timedelta(minutes=21))
        assert all("allocatable" in card for card in (await loop.shown()).values())


@styles
async def test_a_gpu_that_is_gone(recordings: PrometheusServer, style: str) -> None:
    one = EPISODES[f"gone, {style}"]
    async with loop_of(recordings, f"gone, {style}") as loop:
        await loop.run(one.fixed - MINUTE / 2)
        for node, (incident, card) in (await by_node(loop)).items():
            assert incident.opened_at <= one.begins + 12 * MINUTE
            assert "GPU 0" in card
            assert holder_name(node) in card
        await is_over_at(loop, one.fixed + 5 * MINUTE)


@styles
async def test_an_idle_gpu(recordings: PrometheusServer, style: str) -> None:
    one = EPISODES[f"idle, {style}"]
    async with loop_of(recordings, f"idle, {style}", after=30 * MINUTE) as loop:
        await loop.run(one.fixed - MINUTE / 2)
        cards = await loop.shown()
        found = {
            incident.subject.training or incident.subject.workload for incident in await loop.incidents()
        }
        assert found == {holder_id(node) for node in TEN}
        assert len(cards) == len(TEN)
        for node in TEN:
            (card,) = (one for one in cards.values() if holder_name(node.name) in one)
            is_training = holder_kind(node) == "Job"
            name = f"{node.holder[0]}/{holder_name(node.name)}"
            assert (f"gpu free {name}" if is_training else "gpu idle") in card
            assert OWNER in card
        await is_over_at(loop, one.fixed + 3 * MINUTE)


@styles
async def test_gpus_that_are_missing_after_a_reboot(recordings: PrometheusServer, style: str) -> None:
    one = EPISODES[f"capacity, {style}"]
    async with loop_of(recordings, f"capacity, {style}") as loop:
        await loop.run(one.fixed - MINUTE / 2)
        for incident, _ in (await by_node(loop)).values():
            assert incident.opened_at <= one.begins + 7 * MINUTE
        await is_over_at(loop, one.fixed + 5 * MINUTE)
