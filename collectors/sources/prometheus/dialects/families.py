"""The exporters whose series come in dialects, as data: the labels that the packs name, and others that mean the same.

The packs are written for the default labels of each exporter's chart.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from collectors.facts.label_mapping import DEFAULT
from collectors.sources.prometheus.dialects.metric_aliases import DCGM_ALIASES
from collectors.sources.prometheus.gpu_exporters import MetricAlias


class Role(StrEnum):
    """What a label means; settings name labels by it."""

    NODE = "node"
    GPU = "gpu"
    UUID = "uuid"
    NAMESPACE = "namespace"
    POD = "pod"
    CONTAINER = "container"
    SERVICE = "service"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleLabels:
    """The label of the packs for a role, and those that may mean it, best first."""

    label: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """The series of one kind of exporter.

    `prefix` begins its metrics. `probes` are metrics that have its labels. `is_on_node`: it runs on the node that its
    series are about. `is_on_host`: so it does, but its host may be outside of the cluster, and the packs know it by
    `instance`. `own` are the names of its own pods, with `|` between them.
    """

    name: str
    prefix: str | tuple[str, ...]
    probes: tuple[str, ...]
    roles: Mapping[Role, RoleLabels] = field(default_factory=dict)
    is_on_node: bool = False
    is_on_host: bool = False
    own: str = ""
    aliases: Mapping[str, tuple[MetricAlias, ...]] = field(default_factory=dict)

    def is_own(self, pod: str) -> bool:
        """Whether this is the name of the exporter's own pod, by its usual names."""
        return bool(self.own and re.fullmatch(f"(.*[-/])?({self.own})([-/].*)?", pod))

    def has(self, metric: str) -> bool:
        """Whether the packs' metric of this name is of the family."""
        return metric.startswith(self.prefix)

    def labels_of(self, role: Role) -> tuple[str, ...]:
        """Return the labels by which the packs know this; hosts have two, the address and the node beside it."""
        more = ("node",) if self.is_on_host and role is Role.NODE else ()
        return (self.roles[role].label, *more)

    @property
    def probed(self) -> tuple[str, ...]:
        """The probes by all their names."""
        others = (alias.name for name in self.probes for alias in self.aliases.get(name, ()))
        return (*self.probes, *others)


def _own(job: str) -> str:
    return next(one.words for one in DEFAULT.exporters if one.is_own(job))


INSTANCE = "instance"  # the target's address: it tells exporters apart where nothing names their nodes
NODE_LABELS = (
    "node",
    "kubernetes_node",
    "nodename",
    "node_name",
    "Hostname",
    "hostname",
    "exported_node",
    "host",
    "NodeName",
)

_UUIDS = (
    "UUID",
    "uuid",
    "gpu_uuid",
    "gpu_unique_id",
    "serial_number",
    "vdie_id",
    "device_id",
)  # AMD always gives the number, then Ascend's and Hygon's
# amd_smi_exporter calls the label of the GPU's number like the metric.
_AMD_SMI_GPUS = ("gpu_current_temperature", "gpu_use_percent", "gpu_power", "gpu_SCLK")

DCGM = Family(
    name="dcgm-exporter",
    # What DCGM has no counterpart of; everything else of other makes is another name of its metrics.
    prefix=(
        *("DCGM_", "gpu_health", "gpu_clock", "gpu_violation_", "gpu_error_code", "gpu_port_"),
        *("gpu_optics_", "pcie_speed"),
    ),
    probes=("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"),
    roles={
        Role.NODE: RoleLabels(label="Hostname", names=NODE_LABELS),
        Role.GPU: RoleLabels(
            label="gpu",
            names=(
                *("gpu", "gpu_index", "gpu_id", "minor_number", "index", "id", "mlu", "dev_file", "device"),
                *_AMD_SMI_GPUS,
                "name",  # telegraf calls AMD's cards so
                *_UUIDS,
            ),
        ),  # a UUID where there is no index
        Role.UUID: RoleLabels(label="UUID", names=_UUIDS),
        Role.POD: RoleLabels(
            label="exported_pod", names=("exported_pod", "pod_name", "PodName", "dcu_pod_name", "pod")
        ),
        Role.NAMESPACE: RoleLabels(
            label="exported_namespace",
            names=("exported_namespace", "pod_namespace", "NamespaceName", "dcu_pod_namespace", "namespace"),
        ),
        Role.CONTAINER: RoleLabels(
            label="exported_container",
            names=("exported_container", "container_name", "ContainerName", "container"),
        ),
    },
    is_on_node=True,
    own=_own("dcgm-exporter"),
    aliases=DCGM_ALIASES,
)


def _collides(label: str) -> RoleLabels:
    """A label that the scrape's own one displaces where labels are not honoured."""
    return RoleLabels(label=label, names=(f"exported_{label}", label))


KUBE_STATE_METRICS = Family(
    name="kube-state-metrics",
    prefix="kube_",
    # An allow-list may leave out any of them; those of pods and namespaces show whether labels are honoured.
    probes=(
        "kube_node_status_capacity",
        "kube_pod_info",
        "kube_service_info",
        "kube_daemonset_status_number_unavailable",
        "kube_namespace_status_phase",
    ),
    roles={role: _collides(role.value) for role in Role if role not in (Role.GPU, Role.UUID)},
)

COREDNS = Family(
    name="coredns",
    prefix="coredns_",
    probes=("coredns_dns_requests_total", "coredns_dns_responses_total"),
    aliases={
        # before 1.7, and before health checks moved from the plugin `forward` to its proxies
        "coredns_dns_requests_total": (MetricAlias(name="coredns_dns_request_count_total"),),
        "coredns_dns_responses_total": (MetricAlias(name="coredns_dns_response_rcode_count_total"),),
        "coredns_panics_total": (MetricAlias(name="coredns_panic_count_total"),),
        **{
            f"coredns_{one}_{name}": (MetricAlias(name=f"coredns_{other}_{name}"),)
            for one, other in (("proxy", "forward"), ("forward", "proxy"))
            for name in (
                "healthcheck_failures_total",
                "request_duration_seconds_bucket",
                "request_duration_seconds_count",
                "request_duration_seconds_sum",
            )
        },
    },
)


def _on_hosts(
    name: str, prefix: str | tuple[str, ...], *probes: str, namespace: RoleLabels | None = None
) -> Family:
    roles = {Role.NODE: RoleLabels(label=INSTANCE, names=NODE_LABELS)}
    if namespace is not None:
        roles[Role.NAMESPACE] = namespace
    return Family(name=name, prefix=prefix, probes=probes, roles=roles, is_on_host=True)


NODE_EXPORTER = _on_hosts("node_exporter", "node_", "node_load1", "node_memory_MemTotal_bytes")
KUBELET = _on_hosts(
    "kubelet",
    ("kubelet_", "storage_operation_", "csi_operations_"),
    *("kubelet_running_pods", "kubelet_volume_stats_used_bytes"),
    namespace=_collides("namespace"),
)
NODE_PROBLEM_DETECTOR = _on_hosts("node-problem-detector", "problem_", "problem_counter")
FELIX = _on_hosts("calico-node", "felix_", "felix_resync_state")
GPU_OPERATOR = _on_hosts(
    "gpu-operator",
    "gpu_operator_node_",
    *("gpu_operator_node_device_plugin_devices_total", "gpu_operator_node_driver_validation"),
)
ETCD = _on_hosts(
    "etcd",
    ("etcd_server_", "etcd_disk_", "etcd_mvcc_", "etcd_network_"),  # the API server has others
    "etcd_server_has_leader",
)
HADOOP = _on_hosts(
    "hadoop", ("Hadoop_", "hadoop_"), "Hadoop_NameNode_CapacityTotal", "hadoop_namenode_capacitytotal"
)
TARGETS = _on_hosts("targets", "up", "up")

CALICO_CONTROLLERS = Family(
    name="calico-kube-controllers",
    prefix="ipam_",
    probes=("ipam_allocations_in_use",),
    roles={Role.NODE: _collides("node")},
)

CERT_MANAGER = Family(
    name="cert-manager",
    prefix="certmanager_",
    probes=("certmanager_certificate_expiration_timestamp_seconds",),
    roles={Role.NAMESPACE: _collides("namespace")},
)

FAMILIES = (
    DCGM,
    KUBE_STATE_METRICS,
    COREDNS,
    NODE_EXPORTER,
    KUBELET,
    NODE_PROBLEM_DETECTOR,
    FELIX,
    GPU_OPERATOR,
    ETCD,
    HADOOP,
    CALICO_CONTROLLERS,
    CERT_MANAGER,
    TARGETS,
)
