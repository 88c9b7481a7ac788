"""The counts of `gpu list` for GPUs that are held and out of service."""

from datetime import timedelta
from typing import Any

import pytest

from collectors.cluster.inventory import Inventory
from collectors.facts.labels import Labels
from collectors.facts.results import Sample, Seen
from collectors.facts.sentences import Listed, Sentence
from collectors.facts.topology import PodFacts, Topology
from collectors.gpu_activity import ENGINE, MEASURE, STEPS, IdleSearch, classify_pods
from commands.gpu.gpu_counts import count_gpus, node_table
from tests.support.objects import NOW, gpus, inventory, node, pod

GPU = "nvidia.com/gpu"
SMALL, LARGE = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"
HALF_AN_HOUR = timedelta(minutes=30)


def broken() -> Inventory:
    """Return a node whose four GPUs are held, and one of which the device plugin no longer advertises."""
    status = {"capacity": {GPU: "4"}, "allocatable": {GPU: "3"}}
    return inventory(node("n1", status=status), pod("p", spec={"nodeName": "n1", "containers": [gpus(4)]}))


def test_no_gpu_is_free_when_one_that_is_held_is_out_of_service() -> None:
    seen = broken()
    found = seen.gpus_on("n1")
    assert found is not None
    (row,) = node_table([found], seen, Topology(cluster="a")).rows
    assert row[:4] == ("n1", "4/4", "0", "1 broken")
    look = IdleSearch(at=NOW, after=timedelta(minutes=30))
    count = count_gpus([found], seen, Topology(cluster="a"), look)[GPU]
    assert (count.capacity, count.used, count.free, count.broken) == (4, 4, 0, 1)


def test_why_no_pod_gets_the_free_gpus_can_be_translated() -> None:
    spec = {"unschedulable": True, "taints": [{"key": "team", "value": "x", "effect": "NoExecute"}]}
    status = {"capacity": {GPU: "4"}, "allocatable": {GPU: "4"}}
    seen = inventory(node("n1", spec=spec, status=status))
    found = seen.gpus_on("n1")
    assert found is not None
    (row,) = node_table([found], seen, Topology(cluster="a")).rows
    assert row[3] == "cordoned, tainted team:NoExecute"
    assert isinstance(row[3], Listed)
    assert [one.template for one in row[3].items if isinstance(one, Sentence)] == [
        "cordoned",
        "tainted {taint}:{effect}",
    ]


def sliced() -> Inventory:
    """Return a node that is cut into slices, as the device plugin lists it: its whole GPUs stand there with 0."""
    status = {
        "capacity": {GPU: "0", SMALL: "7", LARGE: "2"},
        "allocatable": {GPU: "0", SMALL: "6", LARGE: "2"},
    }
    long_ago: dict[str, Any] = {"creationTimestamp": "2026-01-01T00:00:00Z"}
    return inventory(
        node("gpu-mig-1", status=status),
        pod("small", "exp", **long_ago, spec=_holding("gpu-mig-1", 3, SMALL), status=_RUNNING),
        pod("large", "exp", **long_ago, spec=_holding("gpu-mig-1", 1, LARGE), status=_RUNNING),
    )


_RUNNING: dict[str, Any] = {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"}


def _holding(name: str, count: int, resource: str) -> dict[str, Any]:
    return {"nodeName": name, "containers": [gpus(count, resource)]}


def _engine(pod_name: str, uuid: str, instance: str, value: float) -> tuple[Sample, Sample]:
    """Return what an exporter measures of one slice, which its `GPU_I_ID` tells from the others of its GPU."""
    labels = {"exported_namespace": "exp", "exported_pod": pod_name, "UUID": uuid, "GPU_I_ID": instance}
    return (
        Sample(labels=Labels({**labels, MEASURE: f"{ENGINE}/most"}), value=value),
        Sample(labels=Labels({**labels, MEASURE: f"{ENGINE}/seen"}), value=STEPS),
    )


def test_slices_are_counted_by_their_size_and_whole_gpus_that_there_are_none_of_are_no_row() -> None:
    seen = sliced()
    found = seen.gpus_on("gpu-mig-1")
    assert found is not None
    facts = {
        ("exp", name): PodFacts(
            namespace="exp", name=name, node="gpu-mig-1", workload=f"exp/Job/{name}", gpus=1
        )
        for name in ("small", "large")
    }
    rows = node_table([found], seen, Topology(cluster="a", pods=facts)).rows
    assert rows == (
        ("gpu-mig-1", SMALL, "3/7", "3", "1 broken", "small 3"),
        ("gpu-mig-1", LARGE, "1/2", "1", "ok", "large 1"),
    )


def test_a_node_that_has_lost_all_its_gpus_keeps_its_row() -> None:
    seen = inventory(node("n1", status={"capacity": {GPU: "0"}, "allocatable": {GPU: "0"}}))
    found = seen.gpus_on("n1")
    assert found is not None
    (row,) = node_table([found], seen, Topology(cluster="a")).rows
    assert row[:3] == ("n1", "0/0", "0")


def test_a_resource_that_is_the_same_in_each_row_is_no_column() -> None:
    status = {"capacity": {GPU: "8"}, "allocatable": {GPU: "8"}}
    nodes = inventory(node("n1", status=status), node("n2", status=status))
    found = [one for name in ("n1", "n2") if (one := nodes.gpus_on(name))]
    table = node_table(found, nodes, Topology(cluster="a"))
    assert table.heading == ("node", "used", "free", "state", "held by")
    assert [row[:3] for row in table.rows] == [("n1", "0/8", "8"), ("n2", "0/8", "8")]


@pytest.mark.parametrize(
    ("busy", "idle"), [pytest.param(0.0, 3, id="none works"), pytest.param(0.4, 0, id="one of three works")]
)
def test_idle_slices_are_those_whose_instances_do_nothing(busy: float, idle: float) -> None:
    seen = sliced()
    found = seen.gpus_on("gpu-mig-1")
    assert found is not None
    samples = (
        *_engine("small", "GPU-1", "7", 0.001),
        *_engine("small", "GPU-1", "8", busy),
        *_engine("small", "GPU-2", "7", 0.0),
        *_engine("large", "GPU-1", "2", 0.9),
    )
    look = classify_pods(
        seen, Seen(source="prometheus", at=NOW, samples=samples), now=NOW, after=HALF_AN_HOUR
    )
    counts = count_gpus([found], seen, Topology(cluster="a"), look)
    assert list(counts) == [SMALL, LARGE]
    assert (counts[SMALL].capacity, counts[SMALL].used, counts[SMALL].free, counts[SMALL].idle) == (
        7,
        3,
        3,
        idle,
    )
    assert (counts[LARGE].capacity, counts[LARGE].used, counts[LARGE].idle) == (2, 1, 0)
