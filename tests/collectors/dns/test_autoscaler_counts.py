"""The nodes that the DNS autoscaler counts, and the replicas that it sets with them."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from collectors.cluster.objects import Deployment, Node
from collectors.dns.autoscaler import Autoscaler, autoscaler_of
from collectors.facts.proportional import read_linear
from tests.support.objects import inventory, node, read

VIVO = {"nodesPerReplica": 10, "min": 1, "max": 50, "preventSinglePointFailure": True}
BOTH = {"coresPerReplica": 2, "nodesPerReplica": 2, "min": 1, "max": 100, "preventSinglePointFailure": True}
OLD = Autoscaler(counts_unready=True)


def nodes(
    count: int, *, cordoned: int = 0, unready: int = 0, cores: str = "1", **labels: str
) -> Sequence[Node]:
    def ready(number: int) -> str:
        return "Unknown" if number >= count - unready else "True"

    return [
        node(
            f"n{number}",
            spec={"unschedulable": number < cordoned},
            labels=labels,
            status={
                "allocatable": {"cpu": cores},
                "conditions": [{"type": "Ready", "status": ready(number)}],
            },
        )
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("document", "seen", "autoscaler", "replicas"),
    [
        pytest.param(VIVO, nodes(100, cordoned=60), Autoscaler(), 4, id="60 of 100 are cordoned"),
        pytest.param(
            {**VIVO, "includeUnschedulableNodes": True},
            nodes(100, cordoned=60),
            Autoscaler(),
            10,
            id="… and counted",
        ),
        pytest.param(VIVO, nodes(100, unready=60), Autoscaler(), 4, id="60 of 100 are not ready"),
        pytest.param(VIVO, nodes(100, unready=60), OLD, 10, id="… before 1.10.1"),
        pytest.param(BOTH, nodes(4, cordoned=2), Autoscaler(), 2, id="2 of 4 are schedulable"),
        pytest.param(BOTH, nodes(8, cordoned=2), Autoscaler(), 3, id="6 of 8 are schedulable"),
        pytest.param(BOTH, nodes(210, cordoned=189), Autoscaler(), 11, id="21 of 210 are schedulable"),
    ],
)
def test_the_replicas_with_these_nodes(
    document: dict[str, Any], seen: Sequence[Node], autoscaler: Autoscaler, replicas: int
) -> None:
    assert autoscaler.replicas(seen, read_linear(json.dumps(document))) == replicas


@pytest.mark.parametrize(("count", "total", "replicas"), [(4, 2, 2), (8, 6, 4), (210, 21, 100)])
def test_with_unschedulable_nodes_as_upstream(count: int, total: int, replicas: int) -> None:
    linear = read_linear(json.dumps({**BOTH, "includeUnschedulableNodes": True}))
    assert Autoscaler().replicas(nodes(count, cordoned=count - total), linear) == replicas


@pytest.mark.parametrize(
    ("count", "cores", "total"),
    [
        pytest.param(3, "500m", 2, id="the sum is rounded up, not each"),
        pytest.param(100, "7910m", 791, id="the sum is exact"),
        pytest.param(30, "0.1", 3, id="although these fractions are not"),
        pytest.param(2, "1k", 2000, id="with a suffix"),
    ],
)
def test_cores_are_the_sum_of_what_is_allocatable(count: int, cores: str, total: int) -> None:
    linear = read_linear('{"coresPerReplica": 1}')
    assert Autoscaler().count(nodes(count, cores=cores), linear) == (count, total)


@pytest.mark.parametrize(
    ("selector", "counted"),
    [
        ("", 7), ("pool=gpu", 5), ("pool==gpu", 5), ("pool!=gpu", 2), ("pool", 7), ("!pool", 0), ("pool=gpu,rack", 0),
    ],
)  # fmt: skip
def test_a_selector_of_nodes_narrows_the_count(selector: str, counted: int) -> None:
    linear = read_linear('{"nodesPerReplica": 1, "includeUnschedulableNodes": true}')
    some = [*nodes(5, pool="gpu"), *nodes(2, pool="cpu")]
    assert Autoscaler(node_labels=selector).count(some, linear)[0] == counted


def a_deployment(name: str, *args: str, image: str = "cpa:1.9.0", **parts: Any) -> Deployment:
    spec = {"template": {"spec": {"containers": [{"name": "c", "image": image, "args": list(args)}]}}}
    meta = {"name": name, "namespace": parts.pop("namespace", "kube-system")}
    return read(Deployment, {"metadata": meta, "spec": {**spec, **parts}})


DNS = a_deployment("coredns")
ARGS = ("--namespace=kube-system", "--configmap=dns-autoscaler", "--target=Deployment/CoreDNS")


@pytest.mark.parametrize(
    ("scaler", "expected"),
    [
        pytest.param(
            a_deployment("a", *ARGS),
            Autoscaler(config="kube-system/dns-autoscaler", counts_unready=True),
            id="an old one",
        ),
        pytest.param(
            a_deployment("a", *ARGS, image="registry/cpa:v1.10.1-amd64@sha256:0"),
            Autoscaler(config="kube-system/dns-autoscaler"),
            id="one that counts ready nodes only",
        ),
        pytest.param(
            a_deployment("a", *ARGS, "--nodelabels=pool=gpu", '--default-params={"linear":{}}', image="cpa"),
            Autoscaler(config="kube-system/dns-autoscaler", creates_config=True, node_labels="pool=gpu"),
            id="of unknown version, with more options",
        ),
        pytest.param(
            a_deployment(
                "a", "--configmap", "c", "--target", "deployment/other,deployment/coredns", image="x"
            ),
            Autoscaler(config="kube-system/c"),
            id="of several targets",
        ),
        pytest.param(a_deployment("a", *ARGS, replicas=0), None, id="one that does not run"),
        pytest.param(a_deployment("a", *ARGS, namespace="lab"), None, id="in another namespace"),
        pytest.param(a_deployment("a", *ARGS[:2], "--target=deployment/coredns-2"), None, id="of another"),
    ],
)
def test_the_autoscaler_is_found_by_what_it_scales(scaler: Deployment, expected: Autoscaler | None) -> None:
    assert autoscaler_of(inventory(DNS, scaler), DNS) == expected
