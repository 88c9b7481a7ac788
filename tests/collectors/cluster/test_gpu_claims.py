"""GPUs that pods hold through claims of dynamic resource allocation, and the nodes that have them."""

from typing import Any

import pytest

from collectors.check import CheckInput
from collectors.check_catalogue import CHECKS
from collectors.cluster.devices import ResourceClaim, ResourceClaimTemplate, ResourceSlice
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Job, Pod
from collectors.gpu_workloads import pods_waiting_for_gpus
from collectors.topology_builder import build_topology
from collectors.trainings.catalogue import read_trainings
from tests.support.objects import NOW, container, gpus, inventory, node, owned, pod, read

GPU, MIG = "gpu.nvidia.com", "mig.nvidia.com"
NO_PLUGIN = {"capacity": {"cpu": "64"}, "allocatable": {"cpu": "64"}}


def request(class_: str = GPU, count: int = 1, **more: Any) -> dict[str, Any]:
    return {"name": "r", "exactly": {"deviceClassName": class_, "count": count, **more}}


def claim(name: str, *devices: str, wants: dict[str, Any] | None = None, users: int = 1, **more: Any) -> Any:
    """Return a claim in `ml`, allocated if it has devices. `more`: fields of each result."""
    result = {"request": "r", "driver": GPU, "pool": "gpu-a01", **more}
    status: dict[str, Any] = {}
    if devices:
        status["allocation"] = {"devices": {"results": [{**result, "device": one} for one in devices]}}
        status["reservedFor"] = [{"resource": "pods", "name": f"p{n}", "uid": "u"} for n in range(users)]
    meta = {"name": name, "namespace": "ml"}
    return read(
        ResourceClaim,
        {"metadata": meta, "spec": {"devices": {"requests": [wants or request()]}}, "status": status},
    )


def template(name: str, *requests: dict[str, Any]) -> Any:
    meta = {"name": name, "namespace": "ml"}
    spec = {"spec": {"devices": {"requests": list(requests)}}}
    return read(ResourceClaimTemplate, {"metadata": meta, "spec": spec})


def uses(*, node: str = "gpu-a01", claim: str = "", template: str = "", made: str = "") -> Pod:
    """Return a pod of `ml` with one claim: `made` is the name of the one that was made from the template."""
    named = {"resourceClaimName": claim} if claim else {"resourceClaimTemplateName": template}
    spec = {"containers": [container()], "resourceClaims": [{"name": "c", **named}]}
    statuses = [{"name": "c", "resourceClaimName": made}] if made else []
    where = {"nodeName": node} if node else {}
    phase = "Running" if node else "Pending"
    return pod("p", "ml", spec={**spec, **where}, status={"phase": phase, "resourceClaimStatuses": statuses})


def listed(*devices: dict[str, Any], host: str = "gpu-a01", driver: str = GPU, **pool: int) -> Any:
    of = {"name": host, "generation": 1, "resourceSliceCount": 1, **pool}
    spec = {"driver": driver, "nodeName": host, "pool": of, "devices": list(devices)}
    return read(ResourceSlice, {"metadata": {"name": f"{host}-{driver}-{pool}"}, "spec": spec})


def device(name: str, type_: str = "gpu", **more: Any) -> dict[str, Any]:
    return {"name": name, "attributes": {"type": {"string": type_}}, **more}


EIGHT = tuple(device(f"gpu-{n}") for n in range(8))

HELD: list[tuple[str, list[Any], dict[str, float]]] = [
    ("a claim of its own", [claim("c1", "gpu-0", "gpu-1"), uses(claim="c1")], {GPU: 2}),
    ("a claim made from a template", [claim("p-c-x", "gpu-0"), uses(template="t", made="p-c-x")], {GPU: 1}),
    (
        "its part of a claim of four pods",
        [claim("c1", "gpu-0", "gpu-1", users=4), uses(claim="c1")],
        {GPU: 0.5},
    ),
    (
        "slices, by the class of the request",
        [claim("c1", "gpu-0-1g-0", wants=request(MIG)), uses(claim="c1")],
        {MIG: 1},
    ),
    (
        "slices, by the name of the device",
        [claim("c1", "gpu-0-mig-1g.5gb-19-0", wants=request("small")), uses(claim="c1")],
        {MIG: 1},
    ),
    (
        "one of several alternatives",
        [
            claim(
                "c1",
                "gpu-0",
                wants={
                    "name": "r",
                    "firstAvailable": [
                        {"name": "cut", "deviceClassName": MIG},
                        {"name": "whole", "deviceClassName": GPU},
                    ],
                },
                request="r/whole",
            ),
            uses(claim="c1"),
        ],
        {GPU: 1},
    ),
    ("no GPU that it only looks at", [claim("c1", "gpu-0", adminAccess=True), uses(claim="c1")], {}),
    (
        "no device of another driver",
        [claim("c1", "d", driver="compute-domain.nvidia.com"), uses(claim="c1")],
        {},
    ),
    (
        "none while its claim has none, but wants",
        [claim("c1", wants=request(count=4)), uses(claim="c1")],
        {GPU: 4},
    ),
    ("none of a claim that is not there", [uses(claim="c1")], {}),
    ("none of a claim of another namespace's name", [claim("c1", "gpu-0"), uses(claim="c2")], {}),
]


@pytest.mark.parametrize(
    ("things", "expected"), [case[1:] for case in HELD], ids=[f"a pod has {case[0]}" for case in HELD]
)
def test_what_a_pod_has(things: list[Any], expected: dict[str, float]) -> None:
    seen = inventory(*things)
    assert seen.gpus_of(seen.pods["ml/p"]) == expected


def test_a_pod_whose_plain_request_is_met_by_a_claim_has_its_gpus_once() -> None:
    extended = {
        "resourceClaimName": "p-extended-resources-x",
        "requestMappings": [{"containerName": "main", "resourceName": "nvidia.com/gpu", "requestName": "r"}],
    }
    plain = {"nodeName": "gpu-a01", "containers": [gpus(2)]}
    waiting = pod("p", "ml", spec={"containers": [gpus(2)]}, status={"phase": "Pending"})
    placed = pod("p", "ml", spec=plain, status={"extendedResourceClaimStatus": extended})

    assert inventory(waiting).gpus_of(waiting) == {"nvidia.com/gpu": 2}
    assert inventory(placed, claim("p-extended-resources-x", "gpu-0", "gpu-1")).gpus_of(placed) == {GPU: 2}
    assert inventory(placed).gpus_of(placed) == {"nvidia.com/gpu": 2}  # the claim is not seen


def counted(*things: Any) -> dict[str, tuple[float, float, float]]:
    found = inventory(node("gpu-a01", status=NO_PLUGIN), *things).gpus_on("gpu-a01")
    assert found is not None
    return {name: (one.capacity, one.allocatable, one.requested) for name, one in found.counts.items()}


def test_a_node_has_the_devices_that_drivers_list_for_it() -> None:
    sick = device("gpu-8", taints=[{"key": "health", "effect": "NoExecute"}])
    noted = device("gpu-9", taints=[{"key": "note", "effect": "None"}])
    other = listed(device("x"), host="gpu-b01")
    domains = listed(device("channel-0"), driver="compute-domain.nvidia.com")

    found = counted(
        listed(*EIGHT, sick, noted), other, domains, claim("c1", "gpu-0", "gpu-1"), uses(claim="c1")
    )

    assert found == {GPU: (10, 9, 2)}


def test_slices_count_by_themselves_and_ways_to_cut_a_gpu_do_not() -> None:
    cut = device("gpu-0-mig-1g-0", "mig")
    possible = device("gpu-1-mig-1g-0", "mig", consumesCounters=[{"counterSet": "gpu-1", "counters": {}}])
    passed_through = device("gpu-vfio-1", "vfio")

    assert counted(listed(device("gpu-1"), cut, possible, passed_through)) == {GPU: (1, 1, 0), MIG: (1, 1, 0)}


def test_a_pool_counts_by_its_newest_generation_once_it_is_complete() -> None:
    old = listed(*EIGHT)
    half = listed(*EIGHT[:2], generation=2, resourceSliceCount=2)
    rest = read(
        ResourceSlice,
        {
            "metadata": {"name": "rest"},
            "spec": {
                "driver": GPU,
                "nodeName": "gpu-a01",
                "devices": list(EIGHT[2:4]),
                "pool": {"name": "gpu-a01", "generation": 2, "resourceSliceCount": 2},
            },
        },
    )
    assert counted(old) == {GPU: (8, 8, 0)}
    assert counted(old, half) == {}
    assert counted(old, half, rest) == {GPU: (4, 4, 0)}


def test_a_device_plugin_and_a_driver_are_never_added_up() -> None:
    found = inventory(node("gpu-a01"), listed(*EIGHT)).gpus_on("gpu-a01")
    assert found is not None
    assert {name: one.capacity for name, one in found.counts.items()} == {"nvidia.com/gpu": 8}


def test_a_node_without_a_device_plugin_has_the_whole_gpus_of_its_driver() -> None:
    seen = inventory(node("gpu-a01", status=NO_PLUGIN), listed(*EIGHT, device("gpu-0-mig", "mig")))

    assert build_topology(seen, (), cluster="prod").nodes["gpu-a01"].gpus == 8
    assert seen.nvidia_gpus_on("gpu-a01") == 9


def test_a_device_with_a_taint_is_a_gpu_out_of_service() -> None:
    sick = device("gpu-0", taints=[{"key": "health", "effect": "NoSchedule"}])
    seen = inventory(node("gpu-a01", status=NO_PLUGIN), listed(sick, *EIGHT[1:]))

    (found,) = [
        one
        for one in CHECKS["gpus-missing"].run(
            CheckInput(at=NOW, inventory=seen, trainings=(), configs={}, sources=()), {}
        )
        if one
    ]

    assert (found.labels.get("node"), found.labels.get("resource"), found.value) == ("gpu-a01", GPU, 1)


def test_the_topology_names_who_holds_the_gpus_of_a_node() -> None:
    seen = inventory(node("gpu-a01", status=NO_PLUGIN), listed(*EIGHT), claim("c1", *"ab"), uses(claim="c1"))

    topology = build_topology(seen, (), cluster="prod")

    assert [(one.gpus, one.user) for one in topology.pods_on["gpu-a01"]] == [(2, "ml/Pod/p")]
    assert topology.workloads["ml/Pod/p"].gpus == 2


def test_a_pod_that_waits_for_a_claim_of_gpus_waits_for_gpus() -> None:
    waits = uses(node="", template="t")
    assert list(pods_waiting_for_gpus(inventory(waits, template("t", request(count=2))), ())) == ["ml/Pod/p"]
    assert not pods_waiting_for_gpus(inventory(waits, template("t", request("fpga.example.com"))), ())


def a_job(template: str) -> Job:
    spec = {
        "containers": [container()],
        "resourceClaims": [{"name": "c", "resourceClaimTemplateName": template}],
    }
    return read(
        Job,
        {
            "metadata": {"name": "llama", "namespace": "ml"},
            "spec": {"parallelism": 2, "completions": 2, "template": {"spec": spec}},
        },
    )


def test_a_job_whose_pods_claim_gpus_is_a_training_and_counts_what_they_were_given() -> None:
    rank = {"batch.kubernetes.io/job-completion-index": "0"}
    made = pod(
        "llama-0",
        "ml",
        spec={"nodeName": "gpu-a01", "resourceClaims": [{"name": "c", "resourceClaimTemplateName": "t"}]},
        status={"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "llama-0-c"}]},
        ownerReferences=owned("Job", "llama"),
        annotations=rank,
    )
    things = [a_job("t"), made, claim("llama-0-c", *"abcd"), template("t", request(count=4))]

    (training,) = read_trainings(inventory(*things))

    assert (training.gpus_wanted, training.gpus) == (8, 4)
    assert not read_trainings(inventory(a_job("t"), template("t", request("fpga.example.com"))))


def test_a_claim_that_changes_is_read_again_although_its_pod_is_the_same() -> None:
    before = inventory(node("gpu-a01", status=NO_PLUGIN), listed(*EIGHT), claim("c1"), uses(claim="c1"))
    after = inventory(
        node("gpu-a01", status=NO_PLUGIN), listed(*EIGHT), claim("c1", *"abc"), uses(claim="c1")
    )
    claims = {"resourceclaims": after.snapshots["resourceclaims"]}
    kept = Inventory(as_of=NOW, snapshots={**before.snapshots, **claims}, memo=before.memo)

    seen = [one.gpus_on("gpu-a01") for one in (before, kept)]

    assert [one.counts[GPU].requested for one in seen if one is not None] == [1, 3]


def test_a_cluster_whose_claims_cannot_be_seen_still_counts_plain_requests() -> None:
    plain = pod("plain", spec={"nodeName": "gpu-a01", "containers": [gpus(2)]})
    seen = inventory(node("gpu-a01"), plain, missing={"resourceclaims": "forbidden"})
    assert seen.gpus_on("gpu-a01").counts["nvidia.com/gpu"].requested == 2  # type: ignore[union-attr]
