"""`node show` says what is wrong with a node: lost GPUs, conditions, and its pods, the largest first."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from commands.execution.cluster_writer import MERGE_PATCH
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import Yard, a_node_tree, yard_before

NODE = "gpu-a01"


def a_pod(name: str, **status: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "vision"},
        "spec": {"nodeName": NODE, "containers": [{"name": "main", "image": "x"}]},
        "status": {"phase": "Running", **status},
    }


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    """A node with a GPU out of service, a bad condition, and three pods, of which one crashes."""
    crashing = {"waiting": {"reason": "CrashLoopBackOff"}}
    async with KubernetesLookalike.running(controllers=False) as kube:
        tree = a_node_tree(NODE)
        tree["status"]["allocatable"] = {**tree["status"]["capacity"], "nvidia.com/gpu": "7"}
        tree["status"]["conditions"].append({"type": "DiskPressure", "status": "True", "reason": "Full"})
        tree["status"]["conditions"].append({"type": "MemoryPressure", "status": "False"})
        kube.create(tree, keep_status=True)
        kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "vision"}})
        for name in ("loader", "train"):
            kube.create(a_pod(name), keep_status=True)
        states = [{"name": "main", "restartCount": 9, "image": "x", "imageID": "", "state": crashing}]
        kube.create(a_pod("looping", containerStatuses=states), keep_status=True)
        kube.create(a_pod("ended", phase="Succeeded"), keep_status=True)
        async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
            yield yard


async def test_a_lost_gpu_is_said(yard: Yard) -> None:
    said = await yard.say(f"node show {NODE}")

    assert "0 of 8 in use; 1 of 8 is out of service" in said


async def test_conditions_that_are_bad_are_said_and_the_others_counted(yard: Yard) -> None:
    said = await yard.say(f"node show {NODE}")

    assert "DiskPressure: True Full" in said
    assert "conditions: 2 fine" in said


async def test_the_pods_are_listed_with_their_memory_the_largest_first(yard: Yard) -> None:
    yard.prometheus.say(
        "container_memory_working_set_bytes",
        samples=[
            ({"namespace": "vision", "pod": "train"}, 5 * 2**30),
            ({"namespace": "vision", "pod": "loader"}, 412 * 2**30),
        ],
    )
    yard.prometheus.say(
        "container_cpu_usage_seconds_total", samples=[({"namespace": "vision", "pod": "train"}, 31.26)]
    )
    said = await yard.say(f"node show {NODE}")

    rows = [line.split(" | ") for line in said.splitlines() if line.startswith("vision/")]
    assert rows == [
        ["vision/looping", "", "", "CrashLoopBackOff, 9 restarts"],
        ["vision/loader", "412 GiB", "", "Running"],
        ["vision/train", "5.0 GiB", "31.3", "Running"],
    ]


async def test_pods_are_listed_without_prometheus_too(yard: Yard) -> None:
    yard.prometheus.go_blind("container_", reason="it is down")
    said = await yard.say(f"node show {NODE}")

    assert "vision/loader" in said
    assert "What pods use is not known: it is down" in said


async def test_it_offers_what_can_be_done_with_the_node_as_it_is_and_lifts_no_cordon_of_others(
    yard: Yard,
) -> None:
    said = await yard.say(f"node show {NODE}")
    assert f"[Cordon] node cordon {NODE}" in said
    assert f"[Evidence] node evidence {NODE}" in said
    assert f"[Taint…] node taint {NODE} --form" in said

    await yard.do(f"node taint {NODE} gpu=broken:NoSchedule")
    await yard.seen(lambda: bool(yard.cluster.inventory().nodes[NODE].spec.taints))
    assert f"[Untaint gpu:NoSchedule] node untaint {NODE} gpu:NoSchedule" in await yard.say(
        f"node show {NODE}"
    )

    by_others = {"spec": {"unschedulable": True}}
    await yard.writer._client.call("PATCH", f"/api/v1/nodes/{NODE}", body=by_others, content_type=MERGE_PATCH)
    assert "cordon]" not in (await yard.say(f"node show {NODE}")).lower()
