"""The recommended number of DNS replicas is never below what the alert about the autoscaler calls for."""

import pytest

from collectors.check import CheckInput
from collectors.check_catalogue import CHECKS
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Deployment, Service
from collectors.facts.proportional import read_linear
from commands.dns.owner import Dns, NoOwner, ProportionalOwner, recommended
from commands.execution.object_refs import ObjectRef
from tests.support.objects import NOW, inventory, node, read, samples_in

DNS = ObjectRef(api="apps/v1", kind="Deployment", namespace="kube-system", name="coredns")
CONFIG = ObjectRef(api="v1", kind="ConfigMap", namespace="kube-system", name="dns-autoscaler")


def proposed(document: str, *, replicas: int, nodes: Inventory) -> int:
    owner = ProportionalOwner(config=CONFIG, document=document, linear=read_linear(document))
    return recommended(a_dns(replicas), owner, nodes)


def a_dns(replicas: int) -> Dns:
    deployment = read(Deployment, {"metadata": {"name": "coredns", "namespace": "kube-system"}})
    return Dns(ref=DNS, wanted=replicas, ready=replicas, deployment=deployment)


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


def called_for(document: str, seen: Inventory) -> float:
    """Return the replicas that the alert calls for."""
    inputs = CheckInput(
        at=NOW,
        inventory=seen,
        trainings=(),
        configs={"kube-system/dns-autoscaler": {"linear": document}},
        sources=(),
    )
    (sample,) = samples_in(CHECKS["dns-autoscaler-capped"].run(inputs, {"growth": 1.0}))
    return sample.value


def test_it_is_what_the_alert_calls_for() -> None:
    document = '{"nodesPerReplica": 10, "max": 2}'
    seen = inventory(*(node(f"gpu-{number}") for number in range(40)))

    assert proposed(document, replicas=2, nodes=seen) == called_for(document, seen)


def test_an_alias_of_a_foreign_name_is_counted_by_neither() -> None:
    document = '{"nodesPerReplica": 10, "max": 2}'
    aliases = (a_service(f"a{number}", type="ExternalName") for number in range(1200))
    seen = inventory(*(a_service(f"s{number}") for number in range(700)), *aliases)

    assert proposed(document, replicas=1, nodes=seen) == called_for(document, seen) == 3


def test_cordoned_nodes_are_a_load_although_the_autoscaler_does_not_count_them() -> None:
    nodes = (node(f"gpu-{number}", spec={"unschedulable": number < 60}) for number in range(100))

    assert proposed('{"nodesPerReplica": 10, "max": 50}', replicas=4, nodes=inventory(*nodes)) == 10


def test_without_an_autoscaler_names_require_replicas_too() -> None:
    seen = inventory(*(a_service(f"s{number}") for number in range(1600)))

    assert recommended(a_dns(2), NoOwner(), seen) == 6
    assert recommended(a_dns(2), NoOwner(), inventory()) == 3


def a_service(name: str, **spec: str) -> Service:
    return read(Service, {"metadata": {"name": name, "namespace": "default"}, "spec": spec})
