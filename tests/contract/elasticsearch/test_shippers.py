"""Documents as log shippers write them by default, into indices without a template: labels are found in each."""

from typing import Any

import pytest

from collectors.facts.results import Seen
from tests.contract.elasticsearch.own_logs import Logs

LABELS = ("node", "namespace", "pod", "container", "component")
POD = "gpu-a01 kube-system coredns-x7 coredns kube-dns"
HOST = "gpu-a01    kubelet"
SHIPPERS: dict[str, tuple[str, dict[str, Any]]] = {
    "filebeat": (
        POD,
        {
            "message": "it broke",
            "host": {"name": "filebeat-5d9xz"},
            "kubernetes": {
                "node": {"name": "gpu-a01"},
                "namespace": "kube-system",
                "pod": {"name": "coredns-x7"},
                "container": {"name": "coredns"},
                "labels": {"k8s-app": "kube-dns"},
            },
        },
    ),
    "filebeat-journald": (
        HOST,
        {
            "message": "it broke",
            "host": {"name": "gpu-a01"},
            "systemd": {"unit": "kubelet.service"},
            "syslog": {"identifier": "kubelet", "priority": 6},
        },
    ),
    "fluent-bit": (
        POD,
        {
            "log": "it broke\n",
            "stream": "stderr",
            "kubernetes": {
                "host": "gpu-a01",
                "namespace_name": "kube-system",
                "pod_name": "coredns-x7",
                "container_name": "coredns",
                "labels": {"app_kubernetes_io/name": "kube-dns"},
            },
        },
    ),
    "fluent-bit-with-dots": (
        POD,
        {
            "log": "it broke",
            "kubernetes": {
                "host": "gpu-a01",
                "namespace_name": "kube-system",
                "pod_name": "coredns-x7",
                "container_name": "coredns",
                "labels": {"app.kubernetes.io/name": "kube-dns"},
            },
        },
    ),
    "fluent-bit-systemd": (
        HOST,
        {"MESSAGE": "it broke", "_HOSTNAME": "gpu-a01", "_SYSTEMD_UNIT": "kubelet.service", "PRIORITY": "6"},
    ),
    "fluentd-systemd-lower": (
        HOST,
        {"message": "it broke", "hostname": "gpu-a01", "systemd_unit": "kubelet.service"},
    ),
    "logstash": (
        HOST,
        {
            "message": "it broke",
            "host": "10.0.0.9",
            "logsource": "gpu-a01",
            "program": "kubelet",
            "severity": 6,
        },
    ),
    "logstash-ecs": (
        HOST,
        {"message": "it broke", "host": {"hostname": "gpu-a01"}, "process": {"name": "kubelet"}},
    ),
    "vector": (
        POD,
        {
            "message": "it broke",
            "kubernetes": {
                "pod_node_name": "gpu-a01",
                "pod_namespace": "kube-system",
                "pod_name": "coredns-x7",
                "container_name": "coredns",
                "labels": {"app": "kube-dns"},
            },
        },
    ),
}


def shipped(logs: Logs, document: dict[str, Any]) -> dict[str, Any]:
    return {"@timestamp": logs.host("")["@timestamp"], **document}


async def labels_of(logs: Logs, known: tuple[str, ...]) -> list[str]:
    seen = await logs.query('message:"it broke"', by=known)
    assert isinstance(seen, Seen), seen
    return sorted(
        " ".join(sample.labels.get(label, "") for label in LABELS)
        for sample in seen.samples
        for _ in range(int(sample.value))
    )


@pytest.mark.parametrize("shipper", SHIPPERS)
async def test_one_shipper(logs: Logs, shipper: str) -> None:
    labels, document = SHIPPERS[shipper]
    await logs.index(shipped(logs, document), into=f"of-{shipper}")
    known = tuple(label for label in LABELS if labels == POD or label in ("node", "component"))
    assert await labels_of(logs, known) == [labels]


async def test_all_of_them_in_one_pattern(logs: Logs) -> None:
    for name, (_, document) in SHIPPERS.items():
        own = {
            key: f"{value} for {name}" if value == "it broke" else value for key, value in document.items()
        }
        await logs.index(shipped(logs, own), into=f"of-{name}")
    assert await labels_of(logs, LABELS) == sorted(labels for labels, _ in SHIPPERS.values())
