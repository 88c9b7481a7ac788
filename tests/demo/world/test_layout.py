"""This file tests that it is not chance which servers work: a scenario must not break the cooling of an idle one."""

from demo.scenario import load_scenarios
from demo.world.layout import a_cluster, spare_of


def test_scenarios_break_servers_of_the_large_pool_and_not_its_spare_one() -> None:
    layout = a_cluster()
    broken = {
        str(fault.parameters["node"])
        for scenario in load_scenarios().values()
        for fault in scenario.happens
        if "node" in fault.parameters
    }

    assert len(broken) >= 6
    assert spare_of(layout) == "gpu-d03"
    assert spare_of(layout) not in broken
    assert {layout.node(name).pool for name in broken} == {"large"}


def test_the_trainings_fill_all_servers_of_the_large_pool_but_the_spare_one() -> None:
    layout = a_cluster()
    there = sum(node.gpus for node in layout.nodes if node.pool == "large" and node.name != spare_of(layout))

    assert there == sum(one.workers * one.gpus for one in layout.trainings if one.pool == "large")
