"""Who made a pod, who stands on what, and what follows from a subject."""

from typing import Any

import pytest

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Deployment, Job, Namespace, ReplicaSet, StatefulSet
from collectors.facts.label_mapping import subject_of
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology
from collectors.topology_builder import build_topology
from collectors.trainings.catalogue import read_trainings
from tests.support.objects import NOW, gpus, inventory, node, owned, pod, read

INDEX = "batch.kubernetes.io/job-completion-index"


def made(type_: Any, name: str, namespace: str = "default", **parts: Any) -> Any:
    metadata = {"name": name, "namespace": namespace, **parts.pop("metadata", {})}
    return read(type_, {"metadata": metadata, **parts})


OWNERS = [
    (
        "a Deployment's",
        [
            made(ReplicaSet, "ps-7b6f", metadata={"ownerReferences": owned("Deployment", "ps")}),
            made(Deployment, "ps"),
        ],
        "ReplicaSet",
        "ps-7b6f",
        "default/Deployment/ps",
    ),
    ("a Job's", [made(Job, "worker")], "Job", "worker", "default/Job/worker"),
    (
        "a CronJob's",
        [made(Job, "nightly-1", metadata={"ownerReferences": owned("CronJob", "nightly")})],
        "Job",
        "nightly-1",
        "default/CronJob/nightly",
    ),
    ("a StatefulSet's", [made(StatefulSet, "db")], "StatefulSet", "db", "default/StatefulSet/db"),
    ("one whose ReplicaSet cannot be seen", [], "ReplicaSet", "ps-7b6f", "default/Deployment/ps"),
    ("a static pod of its node", [], "Node", "n1", ""),
    ("one under a kind that nobody knows", [], "Sparkle", "s", "default/Sparkle/s"),
    (
        "one in a ring of owners",
        [made(Job, "a", metadata={"ownerReferences": owned("Job", "a")})],
        "Job",
        "a",
        "default/Job/a",
    ),
]


@pytest.mark.parametrize(
    ("above", "kind", "name", "top"), [case[1:] for case in OWNERS], ids=[case[0] for case in OWNERS]
)
def test_the_top_controller_of_a_pod_is(above: list[Any], kind: str, name: str, top: str) -> None:
    one = pod("p", ownerReferences=owned(kind, name), labels={"pod-template-hash": "7b6f"})
    seen = inventory(one, *above)
    assert seen.workload_of(one) == top
    if top:
        assert seen.pods_of(top) == (one,)


def test_a_pod_of_its_own_has_no_controller() -> None:
    one = pod("p")
    assert inventory(one).workload_of(one) == ""


def cluster() -> Inventory:
    """One training of two ranks on two nodes, an exporter, a name server."""
    address = {"status": {"addresses": [{"type": "InternalIP", "address": "10.0.0.11"}]}}
    worker = {"spec": {"containers": [gpus(8)]}}
    return inventory(
        node(
            "gpu-a01",
            labels={"topology.kubernetes.io/rack": "rack-a", "nvidia.com/gpu.product": "NVIDIA-H200"},
            **address,
        ),
        node("gpu-b01", labels={"rack": "rack-b"}, spec={"unschedulable": True}),
        read(
            Namespace,
            {
                "metadata": {
                    "name": "vision-detr",
                    "labels": {"training": "detr", "team": "vision"},
                    "annotations": {"yardmaster.io/owner": "ana"},
                }
            },
        ),
        made(
            Job, "detr-worker", "vision-detr", spec={"parallelism": 2, "completions": 2, "template": worker}
        ),
        *(
            pod(
                f"detr-worker-{index}",
                "vision-detr",
                labels={INDEX: str(index)},
                ownerReferences=owned("Job", "detr-worker"),
                spec={"nodeName": host, "containers": [gpus(8)]},
                status={"podIP": f"10.244.{index}.20"},
            )
            for index, host in enumerate(["gpu-a01", "gpu-b01"])
        ),
        pod(
            "dcgm-exporter-6ldbb",
            "monitoring",
            ownerReferences=owned("DaemonSet", "dcgm-exporter"),
            spec={"nodeName": "gpu-b01"},
            status={"podIP": "10.244.1.7"},
        ),
    )


@pytest.fixture
def topology() -> Topology:
    seen = cluster()
    return build_topology(seen, read_trainings(seen), cluster="prod-a")


def test_nodes_pods_and_trainings_are_drawn(topology: Topology) -> None:
    assert topology.as_of == NOW
    first, second = topology.nodes["gpu-a01"], topology.nodes["gpu-b01"]
    assert (first.rack, first.gpus, first.gpu_product, first.is_ready) == ("rack-a", 8, "NVIDIA-H200", True)
    assert (second.rack, second.is_cordoned) == ("rack-b", True)
    training = topology.trainings["vision-detr/detr"]
    assert (training.owner, training.team, training.gpus, training.ranks) == ("ana", "vision", 16, 2)
    one = topology.pods["vision-detr", "detr-worker-1"]
    assert (one.training, one.workload, one.gpus) == ("vision-detr/detr", "vision-detr/Job/detr-worker", 8)
    assert {held.name for held in topology.pods_on["gpu-b01"]} == {"detr-worker-1", "dcgm-exporter-6ldbb"}


COMPLETED: list[tuple[str, Subject, dict[str, str]]] = [
    (
        "a pod knows its node, rack, training, owner",
        Subject(namespace="vision-detr", pod="detr-worker-1"),
        {
            "node": "gpu-b01",
            "rack": "rack-b",
            "training": "vision-detr/detr",
            "owner": "ana",
            "team": "vision",
        },
    ),
    ("a host's address is its node", Subject(node="10.0.0.11:9100"), {"node": "gpu-a01", "rack": "rack-a"}),
    ("a pod's address is the node below it", Subject(node="10.244.1.7:9400"), {"node": "gpu-b01"}),
    ("an exporter's pod name is its node", Subject(node="dcgm-exporter-6ldbb"), {"node": "gpu-b01"}),
    ("a full host name is its node", Subject(node="gpu-a01.dc1.example.com"), {"node": "gpu-a01"}),
    ("a name with a port is its node", Subject(node="gpu-a01:9100"), {"node": "gpu-a01"}),
    (
        "an address that nobody has loses to the pod's node",
        Subject(node="10.9.9.9:8080", namespace="vision-detr", pod="detr-worker-0"),
        {"node": "gpu-a01", "training": "vision-detr/detr"},
    ),
    (
        "a workload knows its training",
        Subject(namespace="vision-detr", workload="vision-detr/Job/detr-worker"),
        {"training": "vision-detr/detr", "owner": "ana"},
    ),
    (
        "a training's own namespace is enough",
        Subject(namespace="vision-detr"),
        {"training": "vision-detr/detr"},
    ),
    (
        "what is known is not overwritten",
        Subject(cluster="other", node="gpu-a01", rack="here"),
        {"cluster": "other", "rack": "here"},
    ),
    ("a stranger stays a stranger", Subject(node="elsewhere"), {"node": "elsewhere", "cluster": "prod-a"}),
]


@pytest.mark.parametrize(
    ("said", "follows"), [case[1:] for case in COMPLETED], ids=[case[0] for case in COMPLETED]
)
def test_what_follows_from_a_subject(topology: Topology, said: Subject, follows: dict[str, str]) -> None:
    words = topology.complete(said).words()
    assert {name: words.get(name, "") for name in follows} == follows


def test_an_empty_topology_changes_nothing_but_the_cluster() -> None:
    said = Subject(node="10.0.0.11:9100", namespace="x", pod="y")
    assert Topology(cluster="prod-a").complete(said).words() == {
        "cluster": "prod-a",
        "node": "10.0.0.11",
        "namespace": "x",
        "pod": "y",
    }


def test_a_gpus_alert_finds_the_training_that_it_hurts(topology: Topology) -> None:
    labels = {"Hostname": "gpu-a01", "gpu": "3", "pod": "dcgm-exporter-abc", "job": "dcgm-exporter"}
    subject = topology.complete(subject_of(labels))
    assert [hurt.id for hurt in topology.affected_by(subject)] == ["vision-detr/detr"]
    assert subject.pod == ""
