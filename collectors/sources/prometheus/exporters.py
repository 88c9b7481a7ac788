"""The exporter of each metric that rules query, for people who miss one."""

from collections.abc import Mapping

_MENDS: Mapping[str, tuple[str, str]] = {  # prefix -> the exporter, and what to do
    "DCGM_": (
        "dcgm-exporter",
        "install dcgm-exporter on the GPU nodes, and let Prometheus scrape it (port 9400)",
    ),
    "dcgm_": (
        "dcgm-exporter",
        "install dcgm-exporter on the GPU nodes, and let Prometheus scrape it (port 9400)",
    ),
    "gpu_operator_": (
        "the GPU operator",
        "enable nodeStatusExporter in the GPU operator, and let Prometheus scrape it (port 8000)",
    ),
    "node_": (
        "node_exporter",
        "install node_exporter on every node, and let Prometheus scrape it (port 9100)",
    ),
    "kube_": ("kube-state-metrics", "install kube-state-metrics, and let Prometheus scrape it (port 8080)"),
    "coredns_": ("CoreDNS", "let Prometheus scrape CoreDNS: its plugin `prometheus`, port 9153"),
    "container_": ("cAdvisor", "let Prometheus scrape the kubelets' /metrics/cadvisor"),
    "kubelet_": ("the kubelet", "let Prometheus scrape the kubelets' /metrics"),
    "csi_": ("the kubelet", "let Prometheus scrape the kubelets' /metrics"),
    "storage_": ("the kubelet", "let Prometheus scrape the kubelets' /metrics"),
    "apiserver_": ("the API server", "let Prometheus scrape the API server's /metrics"),
    "problem_": (
        "node-problem-detector",
        "install node-problem-detector on every node, and let Prometheus scrape it (port 20257)",
    ),
    "felix_": ("Calico", "set prometheusMetricsEnabled for Felix, and let Prometheus scrape it (port 9091)"),
    "ipam_": ("Calico's controllers", "let Prometheus scrape calico-kube-controllers (port 9094)"),
    "metallb_": ("MetalLB", "let Prometheus scrape MetalLB's controller and speakers (port 7472)"),
    "etcd_": ("etcd", "let Prometheus scrape etcd's /metrics; a managed control plane may not give it"),
    "scheduler_": ("the scheduler", "let Prometheus scrape kube-scheduler (port 10259)"),
    "workqueue_": ("the controllers", "let Prometheus scrape kube-controller-manager (port 10257)"),
    "volcano_": ("Volcano", "let Prometheus scrape Volcano's scheduler (port 8080)"),
    "Hadoop_": (
        "Hadoop's JMX exporter",
        "run the JMX exporter in the NameNode and the DataNodes, and let Prometheus scrape it",
    ),
    "hadoop_": (
        "Hadoop's JMX exporter",
        "run the JMX exporter in the NameNode and the DataNodes, and let Prometheus scrape it",
    ),
    "ceph_": (
        "Ceph's manager",
        "enable the manager's module `prometheus`, and let Prometheus scrape it (port 9283)",
    ),
}

# Clusters without these lack nothing: the rules for them wait until one appears.
OPTIONAL = frozenset(
    {
        "the GPU operator",
        "node-problem-detector",
        "Calico",
        "Calico's controllers",
        "MetalLB",
        "Volcano",
        "Hadoop's JMX exporter",
    }
)


def exporter_of(metric: str) -> tuple[str, str]:
    """Return the exporter that gives a metric, and how to get it; both empty if it is not known."""
    return next((mend for prefix, mend in _MENDS.items() if metric.startswith(prefix)), ("", ""))
