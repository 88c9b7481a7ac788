"""Styles of scraping: the target labels that charts and relabelling give the exporters of a node and of a cluster."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.support.gpu_dialects import GpuNode

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartStyle:
    """What a chart makes of the targets that serve the whole cluster, and of a node's."""

    name: str
    node_job: str
    dcgm_job: str
    state: Labels  # of the target of kube-state-metrics
    honours: bool  # the labels of kube-state-metrics
    dns: Labels
    node: Callable[[GpuNode], Labels]  # labels of a node_exporter's target
    kubelet: Callable[[GpuNode], Labels]
    control_plane: Mapping[str, Labels]  # by the recorded page; those that the chart scrapes


KUBE_PROMETHEUS = ChartStyle(
    name="kube-prometheus",
    node_job="node-exporter",
    dcgm_job="nvidia-dcgm-exporter",
    state={
        "job": "kube-state-metrics",
        "instance": "10.244.0.3:8443",
        "namespace": "monitoring",
        "pod": "kube-state-metrics-6f9d5c7b8-x2x2x",
        "container": "kube-rbac-proxy-main",
        "endpoint": "https-main",
        "service": "kube-state-metrics",
    },
    honours=True,
    dns={
        "job": "kube-dns",
        "instance": "10.244.0.4:9153",
        "namespace": "kube-system",
        "pod": "coredns-7c65d6cfc9-aaaaa",
        "container": "coredns",
        "service": "kube-dns",
        "endpoint": "metrics",
    },
    node=lambda node: {
        "job": "node-exporter",
        "instance": node.name,
        "namespace": "monitoring",
        "pod": f"node-exporter-{node.number}x7q2",
        "container": "kube-rbac-proxy",
        "endpoint": "https",
    },
    kubelet=lambda node: {
        "job": "kubelet",
        "instance": f"{node.host}:10250",
        "node": node.name,
        "namespace": "kube-system",
        "service": "kubelet",
        "endpoint": "https-metrics",
        "metrics_path": "/metrics",
    },
    control_plane={
        name: {"job": job, "instance": f"10.0.0.200:{port}", "namespace": "kube-system", "endpoint": "https"}
        for name, job, port in (
            ("kube-apiserver", "apiserver", 6443),
            ("kube-scheduler", "kube-scheduler", 10259),
            ("kube-controller-manager", "kube-controller-manager", 10257),
            ("etcd", "kube-etcd", 2381),
        )
    },
)

_ONE_JOB = "kubernetes-service-endpoints"

PROMETHEUS_COMMUNITY = ChartStyle(
    name="prometheus-community",
    node_job=_ONE_JOB,
    dcgm_job=_ONE_JOB,
    state={
        "job": _ONE_JOB,
        "instance": "10.244.0.3:8080",
        "namespace": "monitoring",
        "service": "prometheus-kube-state-metrics",
        "node": "gpu-std",
        "app_kubernetes_io_name": "kube-state-metrics",
    },
    honours=False,
    dns={
        "job": _ONE_JOB,
        "instance": "10.244.0.4:9153",
        "namespace": "kube-system",
        "service": "kube-dns",
        "node": "gpu-std",
        "k8s_app": "kube-dns",
    },
    node=lambda node: {
        "job": _ONE_JOB,
        "instance": f"{node.host}:9100",
        "namespace": "monitoring",
        "service": "prometheus-prometheus-node-exporter",
        "node": node.name,
        "app_kubernetes_io_name": "prometheus-node-exporter",
    },
    kubelet=lambda node: {
        "job": "kubernetes-nodes",
        "instance": node.name,
        "kubernetes_io_hostname": node.name,
        "kubernetes_io_arch": "amd64",
    },
    control_plane={"kube-apiserver": {"job": "kubernetes-apiservers", "instance": "10.0.0.200:6443"}},
)

STYLES = (KUBE_PROMETHEUS, PROMETHEUS_COMMUNITY)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDialect:
    """Labels of a node_exporter's target; `{name}`, `{host}` and `{pod_ip}` are the node's."""

    name: str
    job: str = "node-exporter"
    labels: Labels = field(default_factory=dict)

    def __call__(self, node: GpuNode) -> Labels:
        place = {"name": node.name, "host": node.host, "pod_ip": node.exporter_address}
        return {"job": self.job, **{name: text.format(**place) for name, text in self.labels.items()}}


_SAME = "localhost:9100"  # an agent on each node scrapes its own exporter

NODE_DIALECTS = (
    NodeDialect(name="address and port", labels={"instance": "{host}:9100"}),
    NodeDialect(name="name and port", labels={"instance": "{name}:9100"}),
    NodeDialect(name="name alone, a job called node", job="node", labels={"instance": "{name}"}),
    NodeDialect(name="full host name", labels={"instance": "{name}.ml.example.com:9100"}),
    NodeDialect(name="the pod's address", labels={"instance": "{pod_ip}:9100"}),
    NodeDialect(name="node beside the address", labels={"instance": "{host}:9100", "node": "{name}"}),
    NodeDialect(
        name="nodename alone", job="integrations/node", labels={"instance": _SAME, "nodename": "{name}"}
    ),
    NodeDialect(name="kubernetes_node alone", labels={"instance": _SAME, "kubernetes_node": "{name}"}),
    NodeDialect(name="host alone", job="hosts", labels={"instance": _SAME, "host": "{name}"}),
    NodeDialect(name="node_name alone", job="vmagent", labels={"instance": _SAME, "node_name": "{name}"}),
    NodeDialect(name="Hostname as an address", labels={"instance": _SAME, "Hostname": "{host}"}),
    NodeDialect(name="node alone", labels={"instance": _SAME, "node": "{name}"}),
    NodeDialect(
        name="node of another meaning",
        labels={"instance": "{host}:9100", "node": "pool-a", "cluster": "prod"},
    ),
    NodeDialect(
        name="an unusual label", labels={"instance": _SAME, "machine_id": "{name}", "cluster": "prod"}
    ),
    NodeDialect(
        name="managed Prometheus",
        labels={
            "instance": "{name}:metrics",
            "cluster": "prod",
            "location": "europe-west4",
            "project_id": "p1",
            "namespace": "gmp-public",
        },
    ),
    NodeDialect(
        name="federation without honor_labels",
        job="federate",
        labels={
            "instance": "prometheus:9090",
            "exported_instance": "{host}:9100",
            "exported_job": "node-exporter",
        },
    ),
    NodeDialect(name="an address that only node_uname_info explains", labels={"instance": "nat-{host}:9100"}),
    NodeDialect(
        name="the scraper's node beside the address",
        labels={"instance": "{host}:9100", "node": "gpu-op", "k8s_node_name": "gpu-op"},
    ),
)
