"""A rack of 32 nodes and 256 GPUs loses its power in the demo; another program sends alerts about half of them."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace as replace_struct

from demo.environment import EnvironmentOptions
from demo.runner import ScenarioRunner
from demo.scenario import Fault, Scenario, load_scenarios
from demo.world.layout import Layout, demo_layout
from tests.support.demo_stage import demo_stage

RACK = "rack-b"
SIZE = 32
WITHIN = 30.0  # seconds, in which a rule's fifteen minutes are thirty seconds


def layout() -> Layout:
    """Return a cluster with one rack of 32 nodes, and one of four, so that not all of it is off."""
    whole = demo_layout(gpu_nodes=2 * SIZE, racks=2)
    others = [one.name for one in whole.nodes if one.rack != RACK and one.gpus][-4:]
    return replace(
        whole,
        trainings=tuple(one for one in whole.trainings if one.pool == "large"),
        nodes=tuple(one for one in whole.nodes if one.rack == RACK or not one.gpus or one.name in others),
    )


def scenario(of: Layout) -> Scenario:
    nodes = [one.name for one in of.nodes if one.rack == RACK]
    assert (len(nodes), sum(one.gpus for one in of.nodes if one.rack == RACK)) == (32, 256)
    usual = load_scenarios()["rack-power"]
    power, sent = usual.faults
    return replace_struct(
        usual,
        faults=[
            Fault(fault=power.fault, parameters={"rack": RACK}),
            Fault(fault=sent.fault, parameters={**sent.parameters, "nodes": nodes[::2]}),
        ],
        card=replace_struct(usual.card, parent=f"rack/{RACK}"),
    )


@pytest.mark.soak(only=True)  # rack-power is the same with four nodes
async def test_it_is_one_card_within_thirty_seconds_and_ends_as_one(tmp_path: Path) -> None:
    of = layout()
    options = EnvironmentOptions(folder=tmp_path, layout=of, past=timedelta(minutes=20))
    async with demo_stage(options) as environment:
        result = await ScenarioRunner(environment).run(scenario(of))
        (card,) = [one for one in environment.slack.messages("#gpu-alerts") if RACK in one.said]
    assert result.failures == []
    assert result.opened is not None
    assert result.opened < WITHIN
    assert "32 nodes of rack-b had alerts" in card.said
