"""Predictions of whether tasks fit, compared with where the scheduler would place them."""

from dataclasses import replace
from typing import Any

import pytest

from collectors.cluster.base import KubernetesObject
from commands.training.placement import Placement, TaskRequest, node_capacities, place
from commands.training.unschedulable import Suggestions, room_text, suggestions_for, unschedulable_reasons
from tests.support import objects

GPU, MIG, VCUDA = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "tencent.com/vcuda-core"


def a_node(name: str, *, gpus: int = 8, spec: dict[str, Any] | None = None, **more: Any) -> KubernetesObject:
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110", **more.pop("amounts", {})}
    if gpus:
        amounts[GPU] = str(gpus)
    ready = more.pop("ready", "True")
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": ready}]}
    return objects.node(name, status=status, spec=spec or {}, **more)


def a_pod(name: str, node: str, *, gpus: int = 0, phase: str = "Running", **asks: str) -> KubernetesObject:
    amounts = {**asks, **({GPU: str(gpus)} if gpus else {})}
    container = {"name": "main", "image": "i", "resources": {"requests": amounts, "limits": amounts}}
    spec: dict[str, Any] = {"containers": [container]}
    status: dict[str, Any] = {"phase": phase}
    if node.startswith("nominated:"):
        status["nominatedNodeName"] = node.partition(":")[2]
    else:
        spec["nodeName"] = node
    return objects.pod(name, spec=spec, status=status)


def workers(count: int, *, selector: dict[str, str] | None = None, **asks: float) -> TaskRequest:
    return TaskRequest(
        role="worker",
        count=count,
        amounts={
            {"gpus": GPU, "mig": MIG, "vcuda": VCUDA}.get(name, name): one for name, one in asks.items()
        },
        node_selector=selector or {},
        tolerates=frozenset({GPU}),
    )


def servers(count: int, **asks: float) -> TaskRequest:
    return TaskRequest(role="ps", count=count, amounts=asks, node_selector={})


def fit(tasks: list[TaskRequest], *things: KubernetesObject) -> Placement:
    return place(
        tasks, node_capacities(objects.inventory(*things), [name for task in tasks for name in task.amounts])
    )


@pytest.mark.parametrize(
    ("things", "task", "fitting"),
    [
        pytest.param([a_node("n1"), a_node("n2")], workers(2, gpus=8), 2, id="one whole node each"),
        pytest.param([a_node("n1"), a_node("n2")], workers(3, gpus=8), 2, id="no node for a third worker"),
        pytest.param(
            [a_node(f"n{i}") for i in range(4)] + [a_pod(f"p{i}", f"n{i}", gpus=4) for i in range(4)],
            workers(2, gpus=8),
            0,
            id="16 free GPUs on four nodes do not fit 8 on one",
        ),
        pytest.param(
            [a_node("n1"), a_pod("p", "n1", gpus=8, phase="Succeeded")],
            workers(1, gpus=8),
            1,
            id="a finished pod holds nothing",
        ),
        pytest.param(
            [a_node("n1"), a_pod("p", "nominated:n1", gpus=8)],
            workers(1, gpus=8),
            0,
            id="a node with a nominated pod is taken",
        ),
        pytest.param([a_node("n1", spec={"unschedulable": True})], workers(1, gpus=1), 0, id="cordoned"),
        pytest.param([a_node("n1", ready="Unknown")], workers(1, gpus=1), 0, id="node not ready"),
        pytest.param(
            [a_node("n1", spec={"taints": [{"key": GPU, "effect": "NoSchedule"}]})],
            workers(1, gpus=1),
            1,
            id="the taint of GPU nodes is tolerated",
        ),
        pytest.param(
            [a_node("n1", spec={"taints": [{"key": "team", "value": "x", "effect": "NoExecute"}]})],
            workers(1, gpus=1),
            0,
            id="other taints are not tolerated",
        ),
        pytest.param(
            [a_node("n1", spec={"taints": [{"key": "team", "effect": "PreferNoSchedule"}]})],
            workers(1, gpus=1),
            1,
            id="a PreferNoSchedule taint does not repel",
        ),
        pytest.param(
            [a_node("n1", amounts={"pods": "1"}), a_pod("p", "n1")],
            workers(1, gpus=1),
            0,
            id="no pod slot left",
        ),
        pytest.param(
            [a_node("n1"), a_pod("p", "n1", memory="500Gi")],
            workers(1, gpus=1, memory=64 * 2**30),
            0,
            id="GPUs are free but memory is not",
        ),
        pytest.param(
            [a_node("n1", amounts={"cpu": "7500m"})],
            workers(2, gpus=1, cpu=3.75),
            2,
            id="cpu to the last milli",
        ),
        pytest.param(
            [a_node("n1", gpus=0, amounts={MIG: "7"}), a_node("n2")],
            workers(7, mig=1),
            7,
            id="MIG slices are a separate resource",
        ),
        pytest.param([a_node("n1")], workers(1, mig=1), 0, id="whole GPUs are not slices"),
        pytest.param(
            [a_node("n1", gpus=0, amounts={VCUDA: "800"})],
            workers(16, vcuda=50),
            16,
            id="halves of shared cards",
        ),
        pytest.param(
            [a_node("n1", labels={"pool": "small"}), a_node("n2", labels={"pool": "large"})],
            workers(2, selector={"pool": "large"}, gpus=8),
            1,
            id="only selected nodes count",
        ),
        pytest.param([], workers(1), 0, id="a cluster without nodes"),
        pytest.param([a_node("n1")], workers(3), 3, id="tasks without requests"),
    ],
)
def test_tasks_fit_where_the_scheduler_would_place_them(
    things: list[KubernetesObject], task: TaskRequest, fitting: int
) -> None:
    found = fit([task], *things)
    placed = sum(count for _, _, count in found.placed)
    assert placed == fitting
    assert found.is_whole == (fitting == task.count)


def test_parameter_servers_do_not_take_resources_from_workers() -> None:
    things = [a_node("gpu-1", amounts={"cpu": "16"}), a_node("infra", gpus=0, amounts={"cpu": "16"})]
    found = fit([servers(2, cpu=8), workers(1, gpus=8, cpu=16)], *things)
    assert found.is_whole
    assert ("ps", "infra", 2) in found.placed


def test_workers_are_placed_first_if_servers_would_block_them() -> None:
    things = [a_node("gpu-1", amounts={"cpu": "16"}), a_node("gpu-2", amounts={"cpu": "16"})]
    found = fit([servers(2, cpu=4), workers(2, gpus=8, cpu=12)], *things)
    assert found.is_whole
    assert sorted(found.placed) == [
        ("ps", "gpu-1", 1),
        ("ps", "gpu-2", 1),
        ("worker", "gpu-1", 1),
        ("worker", "gpu-2", 1),
    ]


def test_the_refusal_has_the_shortage_per_node_and_suggestions() -> None:
    things = [
        *(a_node(f"gpu-a0{i}") for i in (1, 2, 3, 4)),
        a_pod("p", "gpu-a04", gpus=6),
        a_node("gpu-b01", spec={"unschedulable": True}),
        a_node("infra-01", gpus=0),
    ]
    task = workers(4, gpus=8)
    capacities = node_capacities(objects.inventory(*things), task.amounts)
    found = place([task], capacities)
    assert room_text(found) == "room for 3 of 4 workers (8 nvidia.com/gpu each)"
    assert unschedulable_reasons(found, {"gpu-b01": "gpu-b01 (short test, dana)"}) == (
        "gpu-a04 has 2 free, gpu-a01 has 0 free, gpu-a02 has 0 free, 1 node has no more than that",
        "cordoned: gpu-b01 (short test, dana)",
        "1 node has no nvidia.com/gpu at all",
    )
    unsafe = Suggestions(gpus=4, workers=3, has_gpus=True)
    assert suggestions_for([task], capacities, found) == unsafe
    safe = replace(unsafe, uncordon=("gpu-b01",), is_enough=True)
    assert suggestions_for([task], capacities, found, safe={"gpu-b01"}) == safe


def test_gpus_that_are_in_use_are_not_gpus_that_a_node_lacks() -> None:
    things = [
        *(a_node(f"gpu-a{number:02}") for number in range(1, 17)),
        *(a_pod(f"p{number}", f"gpu-a{number:02}", gpus=8) for number in range(1, 17)),
        *(a_node(f"infra-{number}", gpus=0) for number in (1, 2)),
    ]
    assert unschedulable_reasons(fit([workers(2, gpus=8)], *things), {}) == (
        "gpu-a01 has 0 free, gpu-a02 has 0 free, gpu-a03 has 0 free, 13 nodes have no more than that",
        "2 nodes have no nvidia.com/gpu at all",
    )


def test_a_node_with_gpus_but_without_memory_reports_the_memory() -> None:
    task = workers(1, gpus=4, memory=128 * 2**30)
    found = fit([task], a_node("n1"), a_pod("p", "n1", memory="448Gi"))
    assert room_text(found) == "room for 0 of 1 worker (4 nvidia.com/gpu, 128 GiB memory)"
    assert unschedulable_reasons(found, {}) == ("n1 has 8 free but only 64 GiB memory",)


def test_nodes_that_are_not_selected_are_counted_separately() -> None:
    task = workers(1, selector={"pool": "large"}, gpus=1)
    found = fit([task], a_node("n1", labels={"pool": "small"}), a_node("n2"))
    assert unschedulable_reasons(found, {})[-1] == "2 nodes do not match pool=large"
