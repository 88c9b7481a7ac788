"""Users of the GPU that an alert is about, and how its card says whether they run on that GPU or only on its node."""

from dataclasses import replace

import pytest

from alerts.cards.concerned import concerned
from alerts.cards.incident_context import IncidentContext
from alerts.cards.text import plain
from alerts.incidents.group_keys import group_key_of
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.incidents.incident import Incident
from collectors.facts.topology import PodFacts, Topology, WorkloadFacts
from tests.support.alerting import NOON, a_rule, a_topology, an_alert
from tests.support.grouping import add_alert

LLAMA = "infer/StatefulSet/llama"
GPU = {"node": "gpu-a02"}


def shared_node(**gpu_pods: str) -> Topology:
    """Return a node with a training and another workload. `gpu_pods`: the pod on the GPU of an index."""
    topology = a_topology()
    llama = PodFacts(namespace="infer", name="llama-0", node="gpu-a02", workload=LLAMA, gpus=2)
    idle = PodFacts(namespace="speech", name="asr-ps", node="gpu-a02", training="speech/asr-ps", gpus=0)
    on_node = (*topology.pods_on["gpu-a02"], llama, idle)
    return replace(
        topology,
        pods={**topology.pods, ("infer", "llama-0"): llama},
        pods_on={**topology.pods_on, "gpu-a02": on_node},
        trainings={
            **topology.trainings,
            "speech/asr-ps": replace(topology.trainings["speech/asr"], id="speech/asr-ps", gpus=0),
        },
        workloads={LLAMA: WorkloadFacts(id=LLAMA, owner="mei", gpus=2, pods=1)},
        gpu_pods={("gpu-a02", index.removeprefix("gpu")): (_pod(pod),) for index, pod in gpu_pods.items()},
    )


def _pod(name: str) -> tuple[str, str]:
    namespace, _, pod = name.partition("/")
    return namespace, pod


def incident_of(topology: Topology, *gpus: str) -> Incident:
    rule = a_rule("Hot")
    grouping = GroupingContext(rules={rule.id: rule}, topology=topology)
    alerts = [an_alert("Hot", summary="Bad.", on={**GPU, **({"gpu": gpu} if gpu else {})}) for gpu in gpus]
    incident = open_incident("i1", alerts[0], channels=(), now=NOON)
    for alert in alerts:
        incident = add_alert(incident, alert, grouping, NOON)
    return incident


def said(incident: Incident) -> str:
    return plain(concerned(incident, IncidentContext())).rpartition("gpu-a02 · ")[2]


@pytest.mark.parametrize(
    ("gpu_pods", "gpus", "expected"),
    [
        ({"gpu0": "infer/llama-0"}, ("0",), "On GPU: StatefulSet infer/llama 2 GPUs, mei"),
        ({"gpu0": "speech/asr-0"}, ("0",), "On GPU: speech/asr 4 GPUs, bo"),
        ({}, ("0",), "On this node: speech/asr 4 GPUs, bo; StatefulSet infer/llama 2 GPUs, mei"),
        (
            {"gpu0": "infer/llama-0", "gpu1": "infer/llama-0"},
            ("0", "1"),
            "On GPU: StatefulSet infer/llama 2 GPUs, mei",
        ),
        (
            {"gpu0": "infer/llama-0"},
            ("1", "0"),
            "On GPU: StatefulSet infer/llama 2 GPUs, mei · On this node: speech/asr 4 GPUs, bo",
        ),
        (
            {"gpu0": "infer/llama-0"},
            ("",),
            "Affects: speech/asr 4 GPUs, bo; StatefulSet infer/llama 2 GPUs, mei and 1 more",
        ),
    ],
    ids=[
        "the workload on the GPU",
        "the training on the GPU",
        "all that hold GPUs on the node, where no series says who",
        "one on two GPUs",
        "one on a GPU, and those who may be on the other",
        "all on the node, for an alert about the node",
    ],
)
def test_a_card_names(gpu_pods: dict[str, str], gpus: tuple[str, ...], expected: str) -> None:
    assert said(incident_of(shared_node(**gpu_pods), *gpus)) == expected


@pytest.mark.parametrize("gpus", [("0", ""), ("", "0")], ids=["the GPU first", "the node first"])
def test_an_alert_about_the_node_affects_all_on_it_whatever_its_gpus_do(gpus: tuple[str, ...]) -> None:
    found = incident_of(shared_node(gpu0="infer/llama-0"), *gpus)
    assert said(found).startswith("Affects: ")


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        ("infer/StatefulSet/llama", "workload/infer/StatefulSet/llama"),
        ("infer/PyTorchJob/llama", "workload/infer/PyTorchJob/llama"),
        ("infer/DaemonSet/llama", "pod/infer/llama-0"),
        ("infer/Pod/llama-0", "pod/infer/llama-0"),
    ],
)
def test_alerts_about_pods_of_one_owner_are_one_incident_unless_it_has_one_on_each_node(
    workload: str, expected: str
) -> None:
    pod = PodFacts(namespace="infer", name="llama-0", node="gpu-a02", workload=workload, gpus=2)
    topology = replace(a_topology(), pods={("infer", "llama-0"): pod})
    assert (
        group_key_of(an_alert("Idle", on={"namespace": "infer", "pod": "llama-0"}, topology=topology))
        == expected
    )
