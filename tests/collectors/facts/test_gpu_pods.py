"""The pod on a GPU: what its labels, its series or the node's only holder say, in the labels of many exporters."""

from dataclasses import replace

import pytest

from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from collectors.facts.subjects import Subject
from collectors.facts.topology import NodeFacts, PodFacts, Topology, WorkloadFacts, pci_address, shown_name
from collectors.gpu_pods import MOST_GPUS, pods_by_gpu, pods_query

UUID = "GPU-5f1e"
LLAMA, RESNET = "infer/StatefulSet/llama", "vision/PyTorchJob/resnet"


def two_on_a_node(*, gpus: int = 8) -> Topology:
    """A node with two workloads of 4 GPUs each, a pod without GPUs, and the exporter."""
    pods = (
        PodFacts(namespace="infer", name="llama-0", node="gpu-1", workload=LLAMA, gpus=4),
        PodFacts(namespace="vision", name="resnet-0", node="gpu-1", workload=RESNET, gpus=4),
        PodFacts(namespace="vision", name="resnet-ps", node="gpu-2", workload=RESNET, gpus=2),
        PodFacts(namespace="monitoring", name="dcgm-x", node="gpu-1", workload="monitoring/DaemonSet/dcgm"),
    )
    return Topology(
        cluster="prod",
        nodes={name: NodeFacts(name=name, addresses=(ip,), gpus=gpus) for name, ip in ADDRESSES.items()},
        node_of_address={ip: name for name, ip in ADDRESSES.items()}
        | {"10.244.0.7": "gpu-1", "dcgm-x": "gpu-1"},
        pods={(pod.namespace, pod.name): pod for pod in pods},
        pods_on={name: tuple(pod for pod in pods if pod.node == name) for name in ADDRESSES},
        workloads={
            LLAMA: WorkloadFacts(id=LLAMA, owner="mei", gpus=4, pods=1),
            RESNET: WorkloadFacts(id=RESNET, gpus=6, pods=2),
        },
    )


ADDRESSES = {"gpu-1": "10.0.0.1", "gpu-2": "10.0.0.2"}
USER = {"exported_namespace": "vision", "exported_pod": "resnet-0", "exported_container": "main"}
EXPORTER = {"namespace": "monitoring", "pod": "dcgm-x", "container": "exporter"}
HONORED = {"namespace": "vision", "pod": "resnet-0", "container": "main"}
DIALECTS = {
    "the node's name in Hostname": {"Hostname": "gpu-1", **HONORED},
    "the exporter's labels beside the pod's": {"Hostname": "gpu-1", **USER, **EXPORTER},
    "only the address of the exporter's pod": {"instance": "10.244.0.7:9400", "job": "dcgm-exporter", **USER},
    "only the address of the host": {"instance": "10.0.0.1:9400", "job": "dcgm-exporter", **HONORED},
    "the exporter's pod in Hostname": {"kubernetes_node": "gpu-1", "Hostname": "dcgm-x", **USER, **EXPORTER},
    "the node in a label of relabelling": {"node": "gpu-1", **USER, **EXPORTER},
    "a slice": {"Hostname": "gpu-1", "GPU_I_ID": "3", "GPU_I_PROFILE": "1g.10gb", **HONORED},
    "hostname in lower case": {"hostname": "gpu-1", **HONORED},
    "the node's full host name": {
        "Hostname": "gpu-1.example.com",
        "pod_name": "resnet-0",
        "pod_namespace": "vision",
        "container_name": "main",
    },
}


@pytest.mark.parametrize("labels", DIALECTS.values(), ids=DIALECTS)
@pytest.mark.parametrize(
    ("subject", "pci"),
    [
        (Subject(node="gpu-1", gpu="3", uuid=UUID), ""),
        (Subject(node="gpu-1", gpu="3"), ""),
        (Subject(uuid=UUID), ""),
        (Subject(node="gpu-1"), "0000:b3:00"),
    ],
    ids=["by its UUID", "by its index", "without its node", "by its address on the bus"],
)
def test_the_series_of_a_gpu_name_its_workload(labels: dict[str, str], subject: Subject, pci: str) -> None:
    known = two_on_a_node()
    series = {"gpu": "3", "UUID": UUID, "pci_bus_id": "00000000:B3:00.0", **labels}
    found = pods_by_gpu([Sample(labels=Labels(series), value=91)], known)
    topology = replace(known, gpu_pods=found)
    assert [user.id for user in topology.on_gpu(subject, pci)] == [RESNET]


@pytest.mark.parametrize(
    ("subject", "gpu_pods"),
    [
        (Subject(node="gpu-1", gpu="3"), {}),
        (Subject(node="gpu-1", gpu="3"), {("gpu-1", "4"): (("vision", "resnet-0"),)}),
        (Subject(node="gpu-1", gpu="3"), {("gpu-1", "3"): (("vision", "gone"),)}),
        (Subject(node="gpu-1", gpu="3"), {("gpu-1", "3"): (("monitoring", "dcgm-x"),)}),
        (Subject(node="gpu-1", uuid=UUID), {("", UUID): (("vision", "resnet-ps"),)}),
        (Subject(node="gpu-1"), {("gpu-1", "3"): (("vision", "resnet-0"),)}),
    ],
    ids=[
        "no series names a pod",
        "only another GPU's do",
        "the pod is gone",
        "the pod holds no GPU",
        "the pod is on another node",
        "the alert is about the node",
    ],
)
def test_the_pod_on_a_gpu_is_unknown_while(
    subject: Subject, gpu_pods: dict[tuple[str, str], tuple[tuple[str, str], ...]]
) -> None:
    assert replace(two_on_a_node(), gpu_pods=gpu_pods).on_gpu(subject) == ()


def test_the_only_holder_of_all_gpus_of_a_node_runs_on_each() -> None:
    one = two_on_a_node(gpus=2)
    assert [user.id for user in one.on_gpu(Subject(node="gpu-2", gpu="1"))] == [RESNET]
    assert one.on_gpu(Subject(node="gpu-2")) == ()
    assert two_on_a_node(gpus=8).on_gpu(Subject(node="gpu-2", gpu="1")) == ()


def test_a_pod_in_the_labels_is_believed_without_any_series() -> None:
    subject = Subject(node="gpu-1", gpu="3", namespace="infer", pod="llama-0")
    assert [user.id for user in two_on_a_node().on_gpu(subject)] == [LLAMA]


def test_a_query_asks_for_the_gpus_by_what_is_known_of_them() -> None:
    query = pods_query([("", UUID), ("gpu-1", "3"), ("gpu-1", pci_address("0000:b3:00"))])
    assert query is not None
    assert f'UUID=~"{UUID}"' in query.expr
    assert ',gpu=~"3"' in query.expr
    assert 'pci_bus_id=~"(?i)(0*0:0*b3:0*0([.][0-7])?)"' in query.expr


def test_no_query_is_made_without_a_gpu_or_for_words_that_are_not_a_name() -> None:
    assert pods_query([]) is None
    assert pods_query([("", 'x"} or vector(1)')]) is None


def test_a_query_is_bounded() -> None:
    query = pods_query(("", f"GPU-{number:04}") for number in range(1000))
    assert query is not None
    assert query.expr.count("GPU-0") == 3 * MOST_GPUS  # for each spelling of the label


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("00000000:B3:00.0", "0:b3:0"),
        ("0000:b3:00", "0:b3:0"),
        ("0000:B3:00.0", "0:b3:0"),
        ("B3:00", ""),
        ("", ""),
    ],
)
def test_an_address_on_the_bus_is_one_however_it_is_written(written: str, expected: str) -> None:
    assert pci_address(written) == expected


def test_a_workload_is_read_as_its_kind_and_name() -> None:
    assert shown_name(RESNET) == "PyTorchJob vision/resnet"
    assert shown_name("vision/detr") == "vision/detr"
