"""Places above the node: which of them explains a storm, what is likely its cause, and what it costs."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.parents.parent_incident import ParentIncident
from tests.alerts.packs.shipped import shipped_rules
from tests.support.alerting import an_alert
from tests.support.storm_stage import StormStage, a_site, racks

pytestmark = pytest.mark.looptime

FOUR_RACKS = racks(4, 8)
RULE = ["NodeNotReady"]


async def the_parent(stage: StormStage) -> ParentIncident:
    async with stage.store.read() as snapshot:
        (parent,) = await snapshot.rows(ParentIncident).find()
    return parent


@pytest.mark.parametrize("kind", ["nvlink_domain", "switch", "cooling_zone", "power_zone", "zone"])
async def test_more_racks_than_a_person_reads_are_one_by_what_they_hang_on(kind: str) -> None:
    places = {f"r{number}": {kind: "x1"} for number in range(1, 5)}
    stage = StormStage(topology=a_site(FOUR_RACKS, places=places))
    async with stage.delivering():
        await stage.fire(FOUR_RACKS, RULE)
        await asyncio.sleep(5)
    assert (await the_parent(stage)).key == f"{kind}/x1"
    (card,) = stage.slack.cards
    assert "x1" in card.said


async def test_the_highest_place_that_is_hit_as_a_whole_is_likely_the_cause() -> None:
    """One rack is down, all of a power zone, and half of a switch: its other half works."""
    nodes = racks(2, 8)
    places = {"r1": {"power_zone": "p1", "switch": "s1"}, "r2": {"power_zone": "p2", "switch": "s1"}}
    stage = StormStage(topology=a_site(nodes, places=places))
    await stage.fire([name for name, rack in nodes.items() if rack == "r1"], RULE)
    parent = await the_parent(stage)
    likely = parent.standing.likely
    assert parent.key == "rack/r1"
    assert likely is not None
    assert (likely.kind, likely.name, likely.hit, likely.nodes) == ("power_zone", "p1", 8, 8)


async def test_a_place_whose_name_says_what_it_is_is_named_once() -> None:
    nodes = {f"d{number}": "rack-d" for number in range(1, 9)}
    stage = StormStage(topology=a_site(nodes))
    async with stage.delivering():
        await stage.fire(nodes, RULE)
        await asyncio.sleep(5)
    (card,) = stage.slack.cards
    assert "Likely cause: rack-d, 8 of its 8 nodes" in card.said.replace("*", "")
    assert "rack rack-d" not in card.said


async def test_a_card_counts_the_gpus_of_its_nodes_and_those_that_wait_in_one_place() -> None:
    nodes = racks(2, 8)
    hit = [name for name, rack in nodes.items() if rack == "r1"]
    stage = StormStage(topology=a_site(nodes, trainings={"vision/detr": [*hit[:4], "n2-01", "n2-02"]}))
    async with stage.delivering():
        await stage.fire(hit, RULE)
        await asyncio.sleep(5)
    (card,) = stage.slack.cards
    said = card.said.replace("*", "")
    assert (
        "At stake: 64 GPUs of these nodes, 16 GPUs waiting for them: 80 GPU-hours are lost each hour" in said
    )
    assert said.count("64 GPUs") == 1


async def test_what_broke_first_is_named() -> None:
    nodes = racks(1, 9)
    stage = StormStage(topology=a_site(nodes))
    await stage.fire(["n1-05"], ["GPUGone"])
    await asyncio.sleep(20)
    await stage.fire([name for name in nodes if name != "n1-05"], RULE)
    likely = (await the_parent(stage)).standing.likely
    assert likely is not None
    assert (likely.node, likely.alert) == ("n1-05", "GPUGone")


async def test_what_is_above_the_nodes_and_broke_before_them_comes_first() -> None:
    nodes = racks(1, 8)
    stage = StormStage(topology=a_site(nodes))
    now = stage.clock.now()
    above = an_alert("KubeletDown", at=now, severity="critical", topology=stage.topology, component="pdu")
    await stage.cycle([above])
    await asyncio.sleep(20)
    await stage.fire(nodes, RULE)
    likely = (await the_parent(stage)).standing.likely
    assert likely is not None
    assert (likely.node, likely.alert, likely.at) == ("", "KubeletDown", now)


async def test_what_yardmaster_cannot_see_breaks_no_node() -> None:
    """Where a rack loses its power, the Prometheus in it may not answer for a while: that is no cause."""
    nodes = racks(1, 8)
    stage = StormStage(topology=a_site(nodes))
    rule = shipped_rules()["YardmasterSourceBlind"]
    blind = an_alert(rule.name, at=stage.clock.now(), topology=stage.topology, component="prometheus")
    await stage.cycle([replace(blind, rule=rule.id)])
    await asyncio.sleep(20)
    await stage.fire(nodes, RULE)
    likely = (await the_parent(stage)).standing.likely
    assert likely is not None
    assert likely.alert == "NodeNotReady"


async def test_gpu_hours_are_those_of_the_nodes_and_of_the_trainings_that_stand_still() -> None:
    nodes = racks(2, 8)
    hit = [name for name, rack in nodes.items() if rack == "r1"]
    stage = StormStage(topology=a_site(nodes, trainings={"vision/detr": [*hit[:4], "n2-01", "n2-02"]}))
    alerts = await stage.fire(hit, RULE)
    parent = await the_parent(stage)
    assert parent.standing.at_stake == 8 * 8 + 2 * 8  # of the rack, and of the training on the other one
    await asyncio.sleep(1800)
    now = stage.clock.now()
    assert parent.gpu_hours_until(now) == pytest.approx(40)
    await stage.end(alerts[4:])
    await asyncio.sleep(1800)
    parent = await the_parent(stage)
    assert parent.standing.at_stake == 4 * 8 + 2 * 8
    await stage.end(alerts[:4])
    over = await the_parent(stage)
    assert over.gpu_hours_until(stage.clock.now() + timedelta(hours=9)) == pytest.approx(40 + 24, rel=0.01)
