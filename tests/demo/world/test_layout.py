"""Scenarios break only busy servers, because which node stays spare is fixed."""

from demo.scenario import load_scenarios
from demo.world.layout import demo_layout, spare_node


def test_scenarios_break_nodes_of_the_large_pool_except_the_spare_one() -> None:
    layout = demo_layout()
    broken = {
        str(fault.parameters["node"])
        for scenario in load_scenarios().values()
        for fault in scenario.faults
        if "node" in fault.parameters
    }

    assert len(broken) >= 6
    assert spare_node(layout) == "gpu-d03"
    assert spare_node(layout) not in broken
    assert {layout.node(name).pool for name in broken} == {"large"}


def test_trainings_fill_all_nodes_of_the_large_pool_except_the_spare_one() -> None:
    layout = demo_layout()
    gpus = sum(node.gpus for node in layout.nodes if node.pool == "large" and node.name != spare_node(layout))

    assert gpus == sum(spec.workers * spec.gpus for spec in layout.trainings if spec.pool == "large")
