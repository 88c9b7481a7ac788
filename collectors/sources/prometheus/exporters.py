"""The exporters of the metrics that rules query: how to get them, and which of them are always there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from collectors.facts.sentences import sentence
from collectors.sources.prometheus.gpu_exporters import GPU_EXPORTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricExporter:
    """What gives the metrics with these prefixes.

    `jobs` matches the names of its scrape jobs. `steady`: prefixes of metrics that it gives all the time, whatever
    happens; the others may only be there while there is something to count. `always`: those of the steady ones that it
    can give wherever it runs. `is_optional`: a cluster without it lacks nothing, and its rules wait.
    `instead_of`: where it runs, what that one has more is not missed. `is_control_plane`: a managed control plane may
    keep it to itself.
    """

    name: str
    prefixes: tuple[str, ...]
    fix: str
    jobs: str = ""
    steady: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    is_optional: bool = False
    instead_of: str = ""  # another one, whose metrics it gives under its own names
    is_control_plane: bool = False

    def is_steady(self, metric: str) -> bool:
        return metric.startswith(self.steady) if self.steady else False

    def scrapes(self, job: str) -> bool:
        """Whether a job is one of its own, by its name."""
        return bool(self.jobs) and re.search(self.jobs, job, re.IGNORECASE) is not None


UNKNOWN = MetricExporter(name="", prefixes=(), fix="")
EXPORTERS: Sequence[MetricExporter] = (
    MetricExporter(
        name="dcgm-exporter",
        prefixes=("DCGM_", "dcgm_"),
        fix=sentence("install dcgm-exporter on the GPU nodes, and let Prometheus scrape it (port 9400)"),
        jobs="dcgm|gpu-metrics|nvidia-gpu",
        steady=("DCGM_FI_", "dcgm_"),
        always=(  # of NVIDIA's own default-counters.csv, without what some cards lack
            "DCGM_FI_DEV_GPU_TEMP",
            "DCGM_FI_DEV_GPU_UTIL",
            "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
            "DCGM_FI_DEV_XID_ERRORS",
        ),
    ),
    *(
        MetricExporter(
            name=one.name, prefixes=one.names, fix=one.fix, instead_of="dcgm-exporter", is_optional=True
        )
        for one in GPU_EXPORTERS
        if one.fix
    ),
    MetricExporter(
        name="the GPU operator",
        prefixes=("gpu_operator_",),
        fix=sentence(
            "enable nodeStatusExporter in the GPU operator, and let Prometheus scrape it (port 8000)"
        ),
        jobs="gpu-operator|node-status-exporter",
        steady=("gpu_operator_",),
        is_optional=True,
    ),
    MetricExporter(
        name="node_exporter",
        prefixes=("node_",),
        fix=sentence("install node_exporter on every node, and let Prometheus scrape it (port 9100)"),
        jobs="^node$|node[-_]?exporter",
        steady=(
            "node_load",
            "node_memory_",
            "node_filesystem_",
            "node_cpu_",
            "node_network_",
            "node_vmstat_",
        ),
    ),
    MetricExporter(
        name="kube-state-metrics",
        prefixes=("kube_",),
        fix=sentence("install kube-state-metrics, and let Prometheus scrape it (port 8080)"),
        jobs="kube-state|^ksm$",
        steady=("kube_node_info", "kube_node_status_", "kube_pod_info", "kube_pod_status_phase"),
    ),
    MetricExporter(
        name="CoreDNS",
        prefixes=("coredns_",),
        fix=sentence("let Prometheus scrape CoreDNS: its plugin `prometheus`, port 9153"),
        jobs="dns",
        steady=("coredns_build_info", "coredns_dns_requests_total", "coredns_dns_request_duration_"),
    ),
    MetricExporter(
        name="KubeDNS",
        prefixes=("skydns_", "kubedns_"),
        fix=sentence("let Prometheus scrape KubeDNS (port 10055) and its sidecar (port 10054)"),
        jobs="kube-?dns",
        steady=("skydns_skydns_dns_request_count_total",),
        is_optional=True,
    ),
    MetricExporter(
        name="cert-manager",
        prefixes=("certmanager_",),
        fix=sentence("let Prometheus scrape cert-manager's controller (port 9402)"),
        jobs="cert-?manager",
        steady=("certmanager_certificate_",),
        is_optional=True,
    ),
    MetricExporter(
        name="cAdvisor",
        prefixes=("container_",),
        fix=sentence("let Prometheus scrape the kubelets' /metrics/cadvisor"),
        jobs="cadvisor",
        steady=("container_cpu_", "container_memory_"),
    ),
    MetricExporter(
        name="the kubelet",
        prefixes=("kubelet_", "csi_", "storage_"),
        fix=sentence("let Prometheus scrape the kubelets' /metrics"),
        jobs="kubelet",
        steady=("kubelet_running_", "kubelet_pleg_"),
    ),
    MetricExporter(
        name="the recording rules of the kubernetes-mixin",
        prefixes=("apiserver_request:",),
        fix=sentence(
            "load the recording rules of the kubernetes-mixin into Prometheus; kube-prometheus-stack has them"
        ),
        steady=("apiserver_request:",),
        is_optional=True,
    ),
    MetricExporter(
        name="the API server",
        prefixes=("apiserver_",),
        fix=sentence("let Prometheus scrape the API server's /metrics"),
        jobs="apiserver",
        steady=("apiserver_request_",),
    ),
    MetricExporter(
        name="node-problem-detector",
        prefixes=("problem_",),
        fix=sentence(
            "install node-problem-detector on every node, and let Prometheus scrape it (port 20257)"
        ),
        jobs="problem-detector",
        steady=("problem_",),
        is_optional=True,
    ),
    MetricExporter(
        name="Calico",
        prefixes=("felix_",),
        fix=sentence("set prometheusMetricsEnabled for Felix, and let Prometheus scrape it (port 9091)"),
        jobs="felix|calico",
        steady=("felix_",),
        is_optional=True,
    ),
    MetricExporter(
        name="Calico's controllers",
        prefixes=("ipam_",),
        fix=sentence("let Prometheus scrape calico-kube-controllers (port 9094)"),
        jobs="calico",
        steady=("ipam_",),
        is_optional=True,
    ),
    MetricExporter(
        name="MetalLB",
        prefixes=("metallb_",),
        fix=sentence("let Prometheus scrape MetalLB's controller and speakers (port 7472)"),
        jobs="metallb",
        is_optional=True,
    ),
    MetricExporter(
        name="etcd",
        prefixes=("etcd_",),
        fix=sentence("let Prometheus scrape etcd's /metrics"),
        jobs="etcd",
        steady=("etcd_server_has_leader", "etcd_mvcc_db_", "etcd_disk_"),
        is_control_plane=True,
    ),
    MetricExporter(
        name="the scheduler",
        prefixes=("scheduler_",),
        fix=sentence("let Prometheus scrape kube-scheduler (port 10259)"),
        jobs="scheduler",
        steady=("scheduler_pending_pods",),
        is_control_plane=True,
    ),
    MetricExporter(
        name="the controllers",
        prefixes=("workqueue_",),
        fix=sentence("let Prometheus scrape kube-controller-manager (port 10257)"),
        jobs="controller-manager",
        steady=("workqueue_",),
        is_control_plane=True,
    ),
    MetricExporter(
        name="Volcano",
        prefixes=("volcano_",),
        fix=sentence("let Prometheus scrape Volcano's scheduler (port 8080)"),
        jobs="volcano",
        is_optional=True,
    ),
    MetricExporter(
        name="Hadoop's JMX exporter",
        prefixes=("Hadoop_", "hadoop_"),
        fix=sentence("run the JMX exporter in the NameNode and the DataNodes, and let Prometheus scrape it"),
        jobs="hdfs|hadoop|namenode|datanode",
        steady=("Hadoop_", "hadoop_"),
        is_optional=True,
    ),
    MetricExporter(
        name="Ceph's manager",
        prefixes=("ceph_",),
        fix=sentence("enable the manager's module `prometheus`, and let Prometheus scrape it (port 9283)"),
        jobs="ceph|rook",
        steady=("ceph_health_status", "ceph_osd_up", "ceph_cluster_", "ceph_mon_quorum_status"),
        is_optional=True,
    ),
)


# What the settings call the parts of a control plane that may keep their metrics to themselves.
UNEXPOSED = {
    "etcd": "etcd",
    "the scheduler": "kube-scheduler",
    "the controllers": "kube-controller-manager",
}


@cache
def exporter_of(metric: str) -> MetricExporter:
    """Return the exporter that gives a metric; `UNKNOWN` if none is known."""
    return next((one for one in EXPORTERS if metric.startswith(one.prefixes)), UNKNOWN)
