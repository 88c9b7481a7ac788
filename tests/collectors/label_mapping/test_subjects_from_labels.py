"""Subjects from the labels of real exporters."""

import pytest

from collectors.facts.label_mapping import subject_of
from collectors.facts.subjects import Subject

UUID = "GPU-5fd4f087-86f3-7a43-b711-4771313afc50"
DCGM_CHART = {  # the chart's default: honorLabels is false
    "Hostname": "gpu-a01",
    "instance": "10.244.3.7:9400",
    "job": "dcgm-exporter",
    "namespace": "monitoring",
    "pod": "dcgm-exporter-6ldbb",
    "container": "dcgm-exporter",
    "endpoint": "metrics",
    "service": "dcgm-exporter",
    "gpu": "3",
    "UUID": UUID,
    "device": "nvidia3",
    "modelName": "NVIDIA H200",
}
WORKLOAD = {
    "exported_namespace": "vision-detr",
    "exported_pod": "detr-worker-0-x",
    "exported_container": "main",
}
NODE_EXPORTER = {
    "instance": "10.0.0.11:9100",
    "job": "node-exporter",
    "namespace": "monitoring",
    "pod": "node-exporter-9xk2p",
    "container": "node-exporter",
    "endpoint": "metrics",
    "service": "node-exporter",
}
KSM = {
    "instance": "10.244.9.4:8080",
    "job": "kube-state-metrics",
    "namespace": "monitoring",
    "pod": "kube-state-metrics-7b6f-x2x",
    "container": "kube-state-metrics",
    "service": "kube-state-metrics",
}

OF_THE_WORKLOAD = Subject(
    node="gpu-a01",
    gpu="3",
    uuid=UUID,
    namespace="vision-detr",
    pod="detr-worker-0-x",
    container="main",
)
CASES: list[tuple[str, dict[str, str], Subject]] = [
    (
        "a GPU with a workload, with the chart's default labels",
        {**DCGM_CHART, **WORKLOAD},
        OF_THE_WORKLOAD,
    ),
    (
        "a GPU without a workload: the exporter's pod is not affected",
        DCGM_CHART,
        Subject(node="gpu-a01", gpu="3", uuid=UUID),
    ),
    (
        "a GPU where honorLabels is true: the pod is the workload",
        {
            "Hostname": "gpu-a01",
            "gpu": "3",
            "UUID": UUID,
            "namespace": "vision-detr",
            "pod": "detr-worker-0-x",
            "container": "main",
            "job": "dcgm-exporter",
            "instance": "10.244.3.7:9400",
        },
        OF_THE_WORKLOAD,
    ),
    (
        "a GPU with the labels of old exporters",
        {
            "hostname": "gpu-a01",
            "gpu": "3",
            "uuid": UUID,
            "pod_namespace": "vision-detr",
            "pod_name": "detr-worker-0-x",
            "container_name": "main",
        },
        OF_THE_WORKLOAD,
    ),
    (
        "an aggregate that keeps the host and the GPU",
        {"Hostname": "gpu-a01", "gpu": "0"},
        Subject(node="gpu-a01", gpu="0"),
    ),
    (
        "a job with another name: the exporter is recognised by its pod",
        {**DCGM_CHART, "job": "gpu-metrics", "service": "gpu-metrics"},
        Subject(node="gpu-a01", gpu="3", uuid=UUID),
    ),
    (
        "a MIG slice: the index of its GPU",
        {"Hostname": "gpu-a01", "gpu": "1", "GPU_I_ID": "7", "GPU_I_PROFILE": "1g.10gb"},
        Subject(node="gpu-a01", gpu="1"),
    ),
    (
        "a GPU of tkestack's gpu-manager",
        {"node": "gpu-a01", "gpu": "gpu2", "namespace": "ai", "pod_name": "train-0", "container_name": "c"},
        Subject(node="gpu-a01", gpu="2", namespace="ai", pod="train-0", container="c"),
    ),
    (
        "all GPUs of tkestack's gpu-manager together: no GPU",
        {"node": "gpu-a01", "gpu": "total", "namespace": "ai", "pod_name": "train-0"},
        Subject(node="gpu-a01", namespace="ai", pod="train-0"),
    ),
    (
        "a host: its address, not the exporter's pod",
        NODE_EXPORTER,
        Subject(node="10.0.0.11:9100"),
    ),
    (
        "a disk of a host is no GPU",
        {**NODE_EXPORTER, "device": "nvme0n1", "mountpoint": "/"},
        Subject(node="10.0.0.11:9100"),
    ),
    (
        "a host under node-mixin's job name",
        {"job": "node", "instance": "gpu-a01"},
        Subject(node="gpu-a01"),
    ),
    (
        "a node's condition: not where kube-state-metrics runs",
        {**KSM, "node": "gpu-a01", "condition": "Ready", "status": "false"},
        Subject(node="gpu-a01"),
    ),
    (
        "a pod's state with honorLabels",
        {**KSM, "namespace": "vision-detr", "pod": "detr-worker-0-x", "container": "main"},
        Subject(namespace="vision-detr", pod="detr-worker-0-x", container="main"),
    ),
    (
        "a pod's state without honorLabels",
        {**KSM, **WORKLOAD, "node": "gpu-a01"},
        Subject(namespace="vision-detr", pod="detr-worker-0-x", container="main", node="gpu-a01"),
    ),
    (
        "a Deployment: the pod label is kube-state-metrics' own",
        {**KSM, "namespace": "vision-detr", "deployment": "detr-ps"},
        Subject(namespace="vision-detr", workload="vision-detr/Deployment/detr-ps"),
    ),
    (
        "a Job by kube-state-metrics' label",
        {**KSM, "namespace": "vision-detr", "job_name": "detr-worker"},
        Subject(namespace="vision-detr", workload="vision-detr/Job/detr-worker"),
    ),
    (
        "a PersistentVolumeClaim",
        {
            "job": "kubelet",
            "node": "gpu-a01",
            "namespace": "vision-detr",
            "persistentvolumeclaim": "coco-images",
        },
        Subject(node="gpu-a01", namespace="vision-detr", volume="vision-detr/coco-images"),
    ),
    (
        "an RBD image",
        {
            "job": "rook-ceph-mgr",
            "instance": "10.244.9.9:9283",
            "pool": "datasets",
            "image": "coco",
            "namespace": "rook-ceph",
        },
        Subject(volume="datasets/coco", component="ceph"),
    ),
    (
        "a Ceph daemon: not where the manager runs",
        {
            "job": "rook-ceph-mgr",
            "instance": "10.244.9.9:9283",
            "ceph_daemon": "osd.3",
            "namespace": "rook-ceph",
            "pod": "rook-ceph-mgr-a-7d",
            "service": "rook-ceph-mgr",
        },
        Subject(component="ceph"),
    ),
    (
        "a DNS server: it describes itself",
        {
            "job": "kube-dns",
            "instance": "10.244.9.3:9153",
            "namespace": "kube-system",
            "pod": "coredns-5d-x",
            "container": "coredns",
            "service": "kube-dns",
        },
        Subject(namespace="kube-system", pod="coredns-5d-x", container="coredns", component="dns"),
    ),
    (
        "all DNS servers together",
        {"job": "kube-dns"},
        Subject(component="dns"),
    ),
    (
        "a node-local DNS server is no node exporter",
        {"job": "node-local-dns", "instance": "10.0.0.11:9253"},
        Subject(component="dns", node="10.0.0.11:9253"),
    ),
    (
        "a kubelet: it describes itself",
        {"job": "kubelet", "node": "gpu-a01", "instance": "10.0.0.11:10250", "metrics_path": "/metrics"},
        Subject(node="gpu-a01", component="kubelet"),
    ),
    (
        "a container from cAdvisor: not the kubelet",
        {
            "job": "kubelet",
            "node": "gpu-a01",
            "instance": "10.0.0.11:10250",
            "namespace": "vision-detr",
            "pod": "detr-worker-0-x",
            "container": "main",
        },
        Subject(node="gpu-a01", namespace="vision-detr", pod="detr-worker-0-x", container="main"),
    ),
    (
        "a training's own metrics: the pod, not its address",
        {
            "job": "detr-worker",
            "instance": "10.244.3.20:8080",
            "namespace": "vision-detr",
            "pod": "detr-worker-0-x",
            "container": "main",
            "service": "detr-worker",
            "rank": "0",
        },
        Subject(namespace="vision-detr", pod="detr-worker-0-x", container="main"),
    ),
    (
        "a probed URL is no node",
        {"job": "blackbox-exporter", "instance": "https://grafana.example.com/login"},
        Subject(),
    ),
    (
        "a component from a log search",
        {"node": "gpu-a01", "component": "containerd"},
        Subject(node="gpu-a01", component="containerd"),
    ),
    (
        "the API server by its own label",
        {"component": "apiserver", "instance": "10.0.9.1:6443", "job": "apiserver"},
        Subject(component="apiserver", node="10.0.9.1:6443"),
    ),
    (
        "the fields of a subject are used as they are",
        {"cluster": "prod-a", "rack": "rack-b", "training": "vision-detr/detr"},
        Subject(cluster="prod-a", rack="rack-b", training="vision-detr/detr"),
    ),
    (
        "a training's name gets its namespace",
        {"namespace": "vision-detr", "training": "detr"},
        Subject(namespace="vision-detr", training="vision-detr/detr"),
    ),
    (
        "a Service from an aggregated query",
        {"namespace": "kube-system", "service": "kube-dns"},
        Subject(namespace="kube-system", service="kube-system/kube-dns"),
    ),
    (
        "empty labels are no labels",
        {"Hostname": "gpu-a01", "gpu": "2", "exported_pod": "", "exported_namespace": "", "pod": ""},
        Subject(node="gpu-a01", gpu="2"),
    ),
    ("no labels", {}, Subject()),
]


@pytest.mark.parametrize(("labels", "subject"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_labels_give_a_subject(labels: dict[str, str], subject: Subject) -> None:
    assert subject_of(labels).words() == subject.words()


def test_owner_and_team_are_never_read_from_labels() -> None:
    subject = subject_of({"node": "gpu-a01", "owner": "mallory", "team": "sre"})
    assert (subject.owner, subject.team) == ("", "")
