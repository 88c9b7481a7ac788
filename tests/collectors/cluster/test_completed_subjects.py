"""The completion of subjects by the topology."""

import pytest

from collectors.facts.label_mapping import subject_of
from collectors.facts.subjects import Subject
from collectors.facts.topology import Topology
from collectors.topology_builder import build_topology
from tests.support.objects import inventory, node

COMPLETED: list[tuple[str, Subject, dict[str, str]]] = [
    (
        "a pod gives its node, rack, training and owner",
        Subject(namespace="vision-detr", pod="detr-worker-1"),
        {
            "node": "gpu-b01",
            "rack": "rack-b",
            "training": "vision-detr/detr",
            "owner": "ana",
            "team": "vision",
        },
    ),
    (
        "a host's address gives its node",
        Subject(node="10.0.0.11:9100"),
        {"node": "gpu-a01", "rack": "rack-a"},
    ),
    ("a pod's address gives its node", Subject(node="10.244.1.7:9400"), {"node": "gpu-b01"}),
    ("an exporter's pod name gives its node", Subject(node="dcgm-exporter-6ldbb"), {"node": "gpu-b01"}),
    ("a full host name gives its node", Subject(node="gpu-a01.dc1.example.com"), {"node": "gpu-a01"}),
    *(
        (f"{text} gives its node", Subject(node=text), {"node": "gpu-a01"})
        for text in (
            "[fd00::a:11]:9100",
            "fd00::a:11",
            "FD00::A:11",
            "GPU-A01",
            "GPU-A01.dc1.example.com:9100",
        )
    ),
    *(
        (f"{text} gives its node", Subject(node=text), {"node": "gpu-a01"})
        for text in ("gce://project/zone/gpu-a01", "prod/gpu-a01")
    ),
    ("a URL that is probed is no node", Subject(node="http://x/gpu-a01"), {"node": "http://x/gpu-a01"}),
    ("a name with a port gives its node", Subject(node="gpu-a01:9100"), {"node": "gpu-a01"}),
    (
        "the pod's node replaces an unknown address",
        Subject(node="10.9.9.9:8080", namespace="vision-detr", pod="detr-worker-0"),
        {"node": "gpu-a01", "training": "vision-detr/detr"},
    ),
    (
        "a workload gives its training",
        Subject(namespace="vision-detr", workload="vision-detr/Job/detr-worker"),
        {"training": "vision-detr/detr", "owner": "ana"},
    ),
    (
        "a dedicated namespace gives its training",
        Subject(namespace="vision-detr"),
        {"training": "vision-detr/detr"},
    ),
    (
        "known fields are not overwritten",
        Subject(cluster="other", node="gpu-a01", rack="here"),
        {"cluster": "other", "rack": "here"},
    ),
    (
        "an unknown node stays unchanged",
        Subject(node="elsewhere"),
        {"node": "elsewhere", "cluster": "prod-a"},
    ),
]


@pytest.mark.parametrize(
    ("known", "expected"), [case[1:] for case in COMPLETED], ids=[case[0] for case in COMPLETED]
)
def test_a_subject_is_completed(topology: Topology, known: Subject, expected: dict[str, str]) -> None:
    words = topology.complete(known).words()
    assert {name: words.get(name, "") for name in expected} == expected


def test_an_empty_topology_sets_only_the_cluster_and_strips_the_port() -> None:
    subject = Subject(node="10.0.0.11:9100", namespace="x", pod="y")
    assert Topology(cluster="prod-a").complete(subject).words() == {
        "cluster": "prod-a",
        "node": "10.0.0.11",
        "namespace": "x",
        "pod": "y",
    }


def test_a_gpu_alert_gives_the_affected_training(topology: Topology) -> None:
    labels = {"Hostname": "gpu-a01", "gpu": "3", "pod": "dcgm-exporter-abc", "job": "dcgm-exporter"}
    subject = topology.complete(subject_of(labels))
    assert [training.id for training in topology.affected_by(subject)] == [
        "vision-detr/Namespace/vision-detr"
    ]
    assert subject.pod == ""


def test_a_short_name_gives_the_only_node_whose_full_name_starts_with_it() -> None:
    names = ("gpu-a01.dc1.example.com", "gpu-b01.dc1.example.com", "gpu-b01.dc2.example.com")
    topology = build_topology(inventory(*map(node, names)), (), cluster="prod-a")
    found = [topology.complete(Subject(node=name)).node for name in ("gpu-a01", "gpu-b01", names[1])]
    assert found == ["gpu-a01.dc1.example.com", "gpu-b01", "gpu-b01.dc1.example.com"]
