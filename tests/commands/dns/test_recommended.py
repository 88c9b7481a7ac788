"""The recommended number of DNS replicas is never below what the alert about the autoscaler calls for."""

from types import SimpleNamespace
from typing import Any

import pytest

from collectors.checks.catalogue import CHECKS
from collectors.checks.check import CheckInput
from collectors.cluster.inventory import Inventory
from collectors.facts.proportional import read_linear
from commands.dns.commands import recommended
from commands.dns.owner import Dns, ProportionalOwner
from commands.plans.object_refs import ObjectRef
from tests.support.objects import NOW, inventory, node

DNS = ObjectRef(api="apps/v1", kind="Deployment", namespace="kube-system", name="coredns")
CONFIG = ObjectRef(api="v1", kind="ConfigMap", namespace="kube-system", name="dns-autoscaler")


def proposed(document: str, *, replicas: int, nodes: Inventory) -> int:
    owner = ProportionalOwner(config=CONFIG, document=document, linear=read_linear(document))
    context: Any = SimpleNamespace(cluster=SimpleNamespace(inventory=lambda: nodes))
    return recommended(Dns(ref=DNS, wanted=replicas, ready=replicas), owner, context)


@pytest.mark.parametrize(
    ("document", "nodes", "replicas", "expected"),
    [
        pytest.param('{"nodesPerReplica": 10, "max": 2}', 40, 2, 4, id="the nodes require more than `max`"),
        pytest.param('{"nodesPerReplica": 10, "max": 9}', 40, 4, 6, id="half as many again"),
        pytest.param('{"nodesPerReplica": 10, "max": 5}', 40, 4, 5, id="half as many again, at most `max`"),
        pytest.param('{"nodesPerReplica": 10, "max": 4}', 20, 4, 6, id="above `max`, if it is reached"),
    ],
)
def test_the_recommended_number(document: str, nodes: int, replicas: int, expected: int) -> None:
    seen = inventory(*(node(f"gpu-{number}") for number in range(nodes)))

    assert proposed(document, replicas=replicas, nodes=seen) == expected


def test_it_is_what_the_alert_calls_for() -> None:
    document = '{"nodesPerReplica": 10, "max": 2}'
    seen = inventory(*(node(f"gpu-{number}") for number in range(40)))
    inputs = CheckInput(
        at=NOW,
        inventory=seen,
        trainings=(),
        configs={"kube-system/dns-autoscaler": {"linear": document}},
        sources=(),
    )

    (sample,) = CHECKS["dns-autoscaler-capped"].run(inputs, {"growth": 1.0})

    assert proposed(document, replicas=2, nodes=seen) == sample.value
