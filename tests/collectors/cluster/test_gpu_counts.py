"""GPU counts equal those of the scheduler."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.cluster.resources import gpu_resource, gpus_requested, parse_quantity, requested, whole_gpus
from tests.support.objects import gpus, inventory, node, pod

GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2", 2),
        ("500m", 0.5),
        ("64Gi", 64 * 2**30),
        ("1k", 1000),
        ("1e3", 1000),
        ("1E", 1e18),
        ("12e6", 12e6),
        ("0", 0),
        ("100M", 1e8),
        ("250u", 0.00025),
        (3, 3),
    ],
)
def test_a_quantity_is_parsed(text: str | int, number: float) -> None:
    assert parse_quantity(text) == pytest.approx(number)


@pytest.mark.parametrize("text", ["", "many", "Gi", "1 Gi"])
def test_an_invalid_quantity_is_named_in_the_error(text: str) -> None:
    with pytest.raises(ValueError, match=text.strip() or "``"):
        parse_quantity(text)


def sidecar(count: int) -> dict[str, Any]:
    return gpus(count, restartPolicy="Always")


REQUESTS: list[tuple[str, dict[str, Any], float]] = [
    ("containers add up", {"containers": [gpus(2), gpus(3)]}, 5),
    ("limits count where requests are missing", {"containers": [gpus(4)]}, 4),
    (
        "the largest init container counts when it requests more",
        {"containers": [gpus(1)], "initContainers": [gpus(4), gpus(2)]},
        4,
    ),
    (
        "init containers do not add to the containers",
        {"containers": [gpus(4)], "initContainers": [gpus(2)]},
        4,
    ),
    ("a sidecar adds to the containers", {"containers": [gpus(4)], "initContainers": [sidecar(1)]}, 5),
    (
        "an init container adds to the sidecars that started before it",
        {"containers": [gpus(1)], "initContainers": [sidecar(1), gpus(4), sidecar(2)]},
        5,
    ),
    (
        "an init container does not add to later sidecars",
        {"containers": [gpus(1)], "initContainers": [gpus(4), sidecar(2)]},
        4,
    ),
    ("overhead is added", {"containers": [gpus(1)], "overhead": {GPU: "1"}}, 2),
    ("an ephemeral container takes nothing", {"containers": [gpus(1)], "ephemeralContainers": [gpus(5)]}, 1),
    ("no request takes nothing", {"containers": [{"name": "main"}]}, 0),
]


@pytest.mark.parametrize(
    ("spec", "count"), [case[1:] for case in REQUESTS], ids=[case[0] for case in REQUESTS]
)
def test_a_pod_takes(spec: dict[str, Any], count: float) -> None:
    assert requested(pod("p", spec=spec).spec, GPU) == count


def test_different_resources_are_counted_separately_and_in_whole_devices() -> None:
    spec = {
        "containers": [
            gpus(1),
            gpus(2, "nvidia.com/mig-1g.10gb"),
            gpus(150, "tencent.com/vcuda-core"),
            gpus(1, "example.com/fpga"),
        ]
    }
    assert gpus_requested(pod("p", spec=spec).spec) == {
        "nvidia.com/gpu": 1,
        "nvidia.com/mig-1g.10gb": 2,
        "tencent.com/vcuda-core": 1.5,
    }


def on(name: str, count: int, phase: str = "Running", **parts: Any) -> Any:
    spec = {"nodeName": "n1", "containers": [gpus(count)]}
    return pod(name, spec=spec, status={"phase": phase}, **parts)


def test_a_node_counts_every_bound_pod_until_it_is_finished() -> None:
    seen = inventory(
        node("n1"),
        on("running", 2),
        on("pulling", 1, "Pending"),
        on("leaving", 1, deletionTimestamp="2026-11-21T03:00:00Z"),
        on("done", 4, "Succeeded"),
        on("dead", 4, "Failed"),
        pod("elsewhere", spec={"nodeName": "n2", "containers": [gpus(8)]}),
        pod("waiting", spec={"containers": [gpus(8)]}, status={"phase": "Pending"}),
        pod("winner", spec={"containers": [gpus(2)]}, status={"phase": "Pending", "nominatedNodeName": "n1"}),
    )
    found = seen.gpus_on("n1")
    assert found is not None
    share = found.counts[GPU]
    assert (share.allocatable, share.requested, share.free, share.reserved) == (8, 4, 4, 2)
    assert seen.gpus_on("n3") is None


def test_gpus_that_are_held_and_out_of_service_leave_none_free() -> None:
    status = {"capacity": {GPU: "8"}, "allocatable": {GPU: "5"}}
    found = inventory(node("n1", status=status), on("p", 8)).gpus_on("n1")
    assert found is not None
    assert (found.counts[GPU].unhealthy, found.counts[GPU].free) == (3, 0)


UNUSABLE: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({}, ()),
    (
        {
            "spec": {
                "unschedulable": True,
                "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}],
            }
        },
        ("cordoned",),
    ),
    ({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}, ("not ready",)),
    ({"spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]}}, ()),
    (
        {"spec": {"taints": [{"key": "team", "value": "x", "effect": "NoExecute"}]}},
        ("tainted team:NoExecute",),
    ),
    ({"spec": {"taints": [{"key": "soft", "effect": "PreferNoSchedule"}]}}, ()),
    (
        {"spec": {"taints": [{"key": "node.kubernetes.io/memory-pressure", "effect": "NoSchedule"}]}},
        ("tainted node.kubernetes.io/memory-pressure:NoSchedule",),
    ),
]


@pytest.mark.parametrize(("parts", "reasons"), UNUSABLE)
def test_free_gpus_may_be_unusable_with_a_reason(parts: dict[str, Any], reasons: tuple[str, ...]) -> None:
    found = inventory(node("n1", **parts)).gpus_on("n1")
    assert found is not None
    assert found.unusable_reason == reasons
    assert found.usable is (not reasons)


@pytest.mark.parametrize(
    ("capacity", "labels", "count"),
    [
        ({GPU: "8"}, {}, 8),
        ({GPU: "80"}, {"nvidia.com/gpu.count": "8", "nvidia.com/gpu.replicas": "10"}, 8),
        ({GPU: "6", "nvidia.com/mig-1g.10gb": "14"}, {"nvidia.com/gpu.count": "8"}, 8),
        ({"tencent.com/vcuda-core": "400", "tencent.com/vcuda-memory": "900"}, {}, 4),
        ({"cpu": "8"}, {}, 0),
    ],
)
def test_physical_devices_are_counted(capacity: dict[str, str], labels: dict[str, str], count: int) -> None:
    assert whole_gpus(node("n1", labels=labels, status={"capacity": capacity})) == count


counts = st.integers(min_value=0, max_value=8)


@given(
    run=st.lists(counts, min_size=1, max_size=4),
    init=st.lists(st.tuples(counts, st.booleans()), max_size=5),
)
def test_a_pod_requests_the_peak_of_its_lifetime(run: list[int], init: list[tuple[int, bool]]) -> None:
    spec = {
        "containers": [gpus(one) for one in run],
        "initContainers": [sidecar(one) if stays else gpus(one) for one, stays in init],
    }
    moments = []
    sidecars = 0
    for one, stays in init:
        moments.append(sidecars + one)
        sidecars += one if stays else 0
    moments.append(sidecars + sum(run))
    assert requested(pod("p", spec=spec).spec, GPU) == max(moments)


@pytest.mark.parametrize(
    ("name", "is_slice"),
    [
        ("nvidia.com/gpu", False),
        ("nvidia.com/gpu-a100", False),
        ("nvidia.com/mig-1g.10gb", True),
        ("nvidia.com/gpu.shared", True),
        ("nvidia.com/gpu-a100.shared", True),
        ("huawei.com/Ascend910", False),
        ("huawei.com/npu", False),
        ("cambricon.com/mlu370", False),
        ("gpu.intel.com/i915", False),
        ("habana.ai/gaudi", False),
        ("hygon.com/dcu", False),
        ("google.com/tpu", False),
    ],
)
def test_devices_of_all_vendors_are_known_by_what_their_names_say(name: str, is_slice: bool) -> None:
    found = gpu_resource(name)
    assert found is not None
    assert found.is_slice is is_slice


@pytest.mark.parametrize(
    "name",
    [
        "cpu",
        "memory",
        "nvidia.com/gpumem",
        "nvidia.com/gpucores",
        "volcano.sh/vgpu-memory",
        "koordinator.sh/gpu-core",
        "aliyun.com/gpu-mem",
        "gpu.intel.com/millicores",
        "gpu.intel.com/i915_monitoring",
        "rdma/hca_shared_devices_a",
        "nvidia.com/hostdev",
        "example.kubernetes.io/gpu",
        "gpu",
    ],
)
def test_other_resources_are_not_devices(name: str) -> None:
    assert gpu_resource(name) is None
