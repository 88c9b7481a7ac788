"""Notes about the owner of the replicas in the preview of `dns scale`."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from collectors.cluster.kinds import DEPLOYMENTS
from collectors.dns.autoscaler import cached_configs
from commands.execution.steps import Patch
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.deployments import a_deployment_tree, a_program
from tests.support.yard import Yard, a_node_tree, yard_before

PODS = {"k8s-app": "kube-dns"}


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    """13 nodes, and a cluster DNS with 5 replicas."""
    async with KubernetesLookalike.running(controllers=False) as running:
        for number in range(13):
            running.create(a_node_tree(f"n{number:02}"), keep_status=True)
        add(running, "coredns", PODS, 5)
        yield running


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_before(kube.kubeconfig(tmp_path / "config")) as made:
        await made.seen(lambda: "kube-system/coredns" in made.cluster.inventory().all(DEPLOYMENTS))
        yield made


def add(kube: KubernetesLookalike, name: str, labels: dict[str, str], replicas: int, *command: str) -> None:
    body = a_deployment_tree(name, labels, a_program(name, *command), replicas=replicas)
    kube.create(body, namespace="kube-system")


def add_hpa(kube: KubernetesLookalike) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "coredns"}
    kube.create(
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "coredns"},
            "spec": {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 5},
        },
        namespace="kube-system",
    )


async def add_autoscaler(yard: Yard, kube: KubernetesLookalike, **linear: object) -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dns-autoscaler"}}
    kube.create({**config, "data": {"linear": json.dumps(linear)}}, namespace="kube-system")
    command = ("/cpa", "--configmap=dns-autoscaler", "--target=Deployment/coredns")
    add(kube, "scaler", {"k8s-app": "scaler"}, 1, *command)
    await yard.seen(lambda: "kube-system/scaler" in yard.cluster.inventory().all(DEPLOYMENTS))


@pytest.mark.parametrize(
    ("wanted", "maximum"), [pytest.param(9, 9, id="above max"), pytest.param(4, 5, id="below max")]
)
async def test_raising_the_maximum_of_an_hpa_is_said(
    yard: Yard, kube: KubernetesLookalike, wanted: int, maximum: int
) -> None:
    add_hpa(kube)
    plan = await yard.plan(f"dns scale {wanted}")
    (step, *_) = plan.steps
    assert isinstance(step, Patch)
    assert step.body == {"spec": {"minReplicas": wanted, "maxReplicas": maximum}}
    raised = maximum != 5
    assert ("raise maxReplicas to 9 (was 5)" in step.description) == raised
    assert any("maxReplicas is raised from 5 to 9" in note for note in plan.notes) == raised


async def test_what_the_autoscaler_computes_does_not_depend_on_the_minimum_that_it_has(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await add_autoscaler(yard, kube, nodesPerReplica=5, min=5, max=50)
    plan = await yard.plan("dns scale 1")
    assert "With 13 nodes the autoscaler computes 3 replicas and does not go below that." in plan.notes


async def test_the_autoscaler_computes_within_its_maximum(yard: Yard, kube: KubernetesLookalike) -> None:
    await add_autoscaler(yard, kube, nodesPerReplica=2, min=5, max=4 + 1)
    plan = await yard.plan("dns scale 3")
    assert "With 13 nodes the autoscaler computes 5 replicas and does not go below that." in plan.notes


async def test_a_document_that_the_autoscaler_rejects_is_shown_and_not_changed(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await add_autoscaler(yard, kube, servicesPerReplica=300)
    shown = await yard.say("dns show")
    assert "neither coresPerReplica nor nodesPerReplica is set" in shown
    assert "the autoscaler does nothing" in await yard.say("dns scale 6")


async def test_the_preview_of_a_cordon_says_what_becomes_of_dns(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await add_autoscaler(yard, kube, nodesPerReplica=6)
    await yard.seen(lambda: bool(cached_configs(yard.cluster.inventory())))
    plan = await yard.plan("node cordon n00 --reason fan")
    assert any("it lowers DNS from 3 to 2 replicas" in note for note in plan.notes)


async def test_what_nodes_and_names_require_is_shown_with_the_advice(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await add_autoscaler(yard, kube, nodesPerReplica=3, min=2, max=9)
    kube.patch("nodes", "", "n00", {"spec": {"unschedulable": True}})
    await yard.seen(lambda: yard.cluster.inventory().nodes["n00"].spec.unschedulable)
    shown = await yard.say("dns show")
    assert "5 replicas for 13 nodes, of which the autoscaler counts 12" in shown
    assert "2 replicas for 0 names" in shown
    assert shown.count("dns scale 8") == 1  # one button, and no second advice
    assert "8: half as many again as now" in shown


@pytest.mark.parametrize(
    ("ready", "took", "is_enough"),
    [
        pytest.param(5, 0.002, True, id="names are resolved in time"),
        pytest.param(5, 0.7, False, id="names are resolved too late"),
        pytest.param(4, 0.002, False, id="one is not ready"),
        pytest.param(5, None, False, id="how long it takes is not known"),
    ],
)
async def test_a_scale_is_suggested_unless_the_replicas_are_enough(
    yard: Yard, kube: KubernetesLookalike, ready: int, took: float | None, is_enough: bool
) -> None:
    await add_autoscaler(yard, kube, nodesPerReplica=3, min=2, max=9)
    kube.patch("deployments", "kube-system", "coredns", {"status": {"readyReplicas": ready}}, status=True)
    await yard.seen(
        lambda: (
            yard.cluster.inventory().all(DEPLOYMENTS)["kube-system/coredns"].status.ready_replicas == ready
        )
    )
    yard.prometheus.say("SERVFAIL", samples=[({}, 0.0)])
    if took is not None:
        yard.prometheus.say("histogram_quantile", samples=[({}, took)])
    shown = await yard.say("dns show")
    assert ("5 replicas are enough: nodes and names require 5" in shown) is is_enough
    assert ("dns scale 8" in shown) is not is_enough


async def test_a_source_that_cannot_be_asked_is_named_once(yard: Yard, kube: KubernetesLookalike) -> None:
    yard.prometheus.go_blind("coredns", reason="it refuses the connection")
    shown = await yard.say("dns show")

    assert shown.count("it refuses the connection") == 1
    assert "load: not known: it refuses the connection" in shown
    assert "SERVFAIL" not in shown


async def test_the_advice_is_one_number_where_the_maximum_is_below_what_nodes_require(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await add_autoscaler(yard, kube, nodesPerReplica=3, min=2, max=4)
    shown = await yard.say("dns show")
    assert "5 replicas for 13 nodes" in shown
    assert set(re.findall(r"dns scale (\d+)", shown)) == {"8"}


BY_REPLICA = ("namespace, pod, instance", "duration_seconds_bucket")


@pytest.mark.parametrize(
    "slow",
    [
        pytest.param({"namespace": "kube-system", "pod": "coredns-1"}, id="its labels name the pod"),
        pytest.param({"instance": "10.244.7.7:9153"}, id="its address is the pod's"),
    ],
)
async def test_the_replica_that_is_slow_alone_is_named_with_its_node(
    yard: Yard, kube: KubernetesLookalike, slow: dict[str, str]
) -> None:
    kube.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "coredns-1"},
            "spec": {"nodeName": "n07", "containers": [{"name": "coredns", "image": "coredns:1"}]},
            "status": {"phase": "Running", "podIP": "10.244.7.7"},
        },
        namespace="kube-system",
        keep_status=True,
    )
    await yard.seen(lambda: "kube-system/coredns-1" in yard.cluster.inventory().pods)
    yard.prometheus.say(*BY_REPLICA, samples=[(slow, 1.02), ({"instance": "10.244.0.2:9153"}, 0.004)])
    shown = await yard.say("dns show")
    assert "slow replica: kube-system/coredns-1 1.0 s on n07, and the fastest replica 4ms" in shown


@pytest.mark.parametrize(
    "latencies",
    [
        pytest.param((1.0, 0.9), id="all are slow"),
        pytest.param((0.02, 0.002), id="all are fast enough"),
        pytest.param((1.0, float("nan")), id="one has no queries"),
        pytest.param((), id="none is measured"),
    ],
)
async def test_no_replica_is_named_where_none_is_slow_alone(yard: Yard, latencies: tuple[float, ...]) -> None:
    samples = [
        ({"instance": f"10.244.0.{number}:9153"}, one) for number, one in enumerate(latencies, start=2)
    ]
    yard.prometheus.say(*BY_REPLICA, samples=samples)
    assert "slow replica" not in await yard.say("dns show")
