"""The counts of `gpu list` for GPUs that are held and out of service."""

from datetime import timedelta

from collectors.cluster.inventory import Inventory
from collectors.facts.sentences import Listed, Sentence
from collectors.facts.topology import Topology
from collectors.gpu_activity import IdleSearch
from commands.gpu.gpu_counts import count_gpus, node_table
from tests.support.objects import NOW, gpus, inventory, node, pod

GPU = "nvidia.com/gpu"


def broken() -> Inventory:
    """Return a node whose four GPUs are held, and one of which the device plugin no longer offers."""
    status = {"capacity": {GPU: "4"}, "allocatable": {GPU: "3"}}
    return inventory(node("n1", status=status), pod("p", spec={"nodeName": "n1", "containers": [gpus(4)]}))


def test_no_gpu_is_free_when_one_that_is_held_is_out_of_service() -> None:
    seen = broken()
    found = seen.gpus_on("n1")
    assert found is not None
    (row,) = node_table([found], Topology(cluster="a")).rows
    assert row[:5] == ("n1", GPU, "4/4", "0", "1 broken")
    look = IdleSearch(at=NOW, after=timedelta(minutes=30))
    count = count_gpus([found], seen, Topology(cluster="a"), look)[GPU]
    assert (count.capacity, count.used, count.free, count.broken) == (4, 4, 0, 1)


def test_why_no_pod_gets_the_free_gpus_can_be_translated() -> None:
    spec = {"unschedulable": True, "taints": [{"key": "team", "value": "x", "effect": "NoExecute"}]}
    status = {"capacity": {GPU: "4"}, "allocatable": {GPU: "4"}}
    found = inventory(node("n1", spec=spec, status=status)).gpus_on("n1")
    assert found is not None
    (row,) = node_table([found], Topology(cluster="a")).rows
    assert row[4] == "cordoned, tainted team:NoExecute"
    assert isinstance(row[4], Listed)
    assert [one.template for one in row[4].items if isinstance(one, Sentence)] == [
        "cordoned",
        "tainted {taint}:{effect}",
    ]
