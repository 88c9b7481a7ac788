"""Notes about DNS in the preview of a cordon: its autoscaler does not count cordoned nodes."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import ConfigMap, Deployment, Service
from commands.core.context import Defaults
from commands.core.dns_after_cordon import notes_on_cordon
from tests.support.objects import inventory, node, read

LINEAR = {"nodesPerReplica": 10, "max": 50}
ARGS = ("--configmap=dns-autoscaler", "--target=deployment/coredns")


def deployment(name: str, *args: str, labels: dict[str, str] | None = None) -> Deployment:
    containers = [{"name": name, "image": "cpa:1.10.3", "args": list(args)}]
    spec = {"selector": {"matchLabels": labels or {}}, "template": {"spec": {"containers": containers}}}
    return read(Deployment, {"metadata": {"name": name, "namespace": "kube-system"}, "spec": spec})


DNS = deployment("coredns", labels={"k8s-app": "kube-dns"})


def a_cluster(*more: Any, nodes: int, **linear: object) -> Inventory:
    content = {"linear": json.dumps({**LINEAR, **linear})}
    meta = {"name": "dns-autoscaler", "namespace": "kube-system"}
    config = read(ConfigMap, {"metadata": meta, "data": content})
    scaler = deployment("scaler", *ARGS)
    return inventory(DNS, scaler, config, *(node(f"n{number}") for number in range(nodes)), *more)


def notes(seen: Inventory, cordoned: int) -> list[str]:
    context: Any = SimpleNamespace(cluster=SimpleNamespace(inventory=lambda: seen), defaults=Defaults())
    return notes_on_cordon([f"n{number}" for number in range(cordoned)], context)


def test_the_replicas_after_the_cordon_and_how_to_keep_them_are_said() -> None:
    (note,) = notes(a_cluster(nodes=100), 60)
    assert "it lowers DNS from 10 to 4 replicas" in note
    assert "`dns scale 10` keeps them" in note


def test_what_names_require_is_advised_if_it_is_more() -> None:
    names = (read(Service, {"metadata": {"name": f"s{n}", "namespace": "a"}}) for n in range(4000))
    (note,) = notes(a_cluster(*names, nodes=50), 41)
    assert "from 5 to 1 replica" in note
    assert "`dns scale 14`" in note


@pytest.mark.parametrize(
    ("seen", "cordoned"),
    [
        pytest.param(a_cluster(nodes=100), 9, id="as many replicas as before"),
        pytest.param(a_cluster(nodes=100, min=10), 60, id="`min` holds them"),
        pytest.param(a_cluster(nodes=100, includeUnschedulableNodes=True), 60, id="all nodes are counted"),
        pytest.param(a_cluster(nodes=100, max=-1), 60, id="the autoscaler rejects its document"),
        pytest.param(inventory(DNS, *(node(f"n{n}") for n in range(100))), 60, id="no autoscaler"),
        pytest.param(inventory(*(node(f"n{n}") for n in range(100))), 60, id="no Deployment"),
    ],
)
def test_nothing_is_said_if_nothing_changes(seen: Inventory, cordoned: int) -> None:
    assert notes(seen, cordoned) == []
