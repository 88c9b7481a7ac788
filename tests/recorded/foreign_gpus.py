"""Dialects of dcgm-exporter that no chart has: those of agents, managed services and exporters made by hand."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from tests.support.gpu_dialects import HONOURED, GpuNode

_NAMES = ("gpu-a", "gpu-b", "gpu-c")


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignDialect:
    """Labels that name a node, with `{name}`, `{upper}` and `{host}`; those that are missing, or have another name."""

    name: str
    named: Mapping[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    pod_labels: tuple[str, str, str] | None = HONOURED  # None: they name no pod
    common: Mapping[str, str] = field(default_factory=dict)  # of all series of the cluster
    metrics: Mapping[str, str] = field(default_factory=dict)  # metrics with another name
    is_twice: bool = False  # another exporter measures the same GPUs

    def nodes(self) -> tuple[GpuNode, ...]:
        return tuple(self._nodes())

    def _nodes(self) -> Iterator[GpuNode]:
        for number, name in enumerate(_NAMES, start=31):
            host = f"10.0.0.{number}"
            yield GpuNode(
                name=name,
                number=number,
                named={
                    key: text.format(name=name, host=host, upper=name.upper())
                    for key, text in self.named.items()
                },
                pod_labels=self.pod_labels or (),
                is_honoured=self.pod_labels in (HONOURED, None),
                missing=self.missing,
                renamed=self.renamed,
            )


_SAME = "localhost:9400"
_METRICS = ("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_XID_ERRORS")

FOREIGN = (
    ForeignDialect(name="a label called node_name", named={"node_name": "{name}", "instance": _SAME}),
    ForeignDialect(name="a label called nodename", named={"nodename": "{name}", "instance": _SAME}),
    ForeignDialect(name="a label called host", named={"host": "{name}", "instance": _SAME}),
    ForeignDialect(name="a label in no list", named={"machine": "{name}", "instance": _SAME}),
    ForeignDialect(name="Hostname is an address", named={"Hostname": "{host}", "instance": _SAME}),
    ForeignDialect(name="host is a full name", named={"host": "{name}.prod.example.com", "instance": _SAME}),
    ForeignDialect(
        name="vmagent: a cluster label on all",
        named={"instance": "{host}:9400", "host": "{name}"},
        common={"cluster": "prod-eu", "datacenter": "ams"},
    ),
    ForeignDialect(
        name="managed Prometheus",
        named={"instance": "{name}:metrics", "location": "europe-west4", "project_id": "p1"},
        pod_labels=("exported_namespace", "exported_pod", "exported_container"),
        common={"cluster": "prod"},
    ),
    ForeignDialect(
        name="another meaning of node",
        named={"node": "pool-a", "Hostname": "{name}", "instance": "{host}:9400"},
    ),
    ForeignDialect(
        name="device instead of gpu", named={"Hostname": "{name}"}, missing=frozenset({"gpu", "modelName"})
    ),
    ForeignDialect(
        name="gpu_uuid and minor_number",
        named={"hostname": "{name}"},
        missing=frozenset({"modelName", "device"}),
        renamed={"UUID": "gpu_uuid", "gpu": "minor_number"},
    ),
    ForeignDialect(
        name="no UUID and no model",
        named={"Hostname": "{name}"},
        missing=frozenset({"UUID", "modelName", "device"}),
    ),
    ForeignDialect(name="no pod and no namespace", named={"Hostname": "{name}"}, pod_labels=None),
    ForeignDialect(
        name="old names of metrics",
        named={"node_name": "{name}"},
        pod_labels=("pod_namespace", "pod_name", "container_name"),
        renamed={"UUID": "uuid"},
        metrics={
            "DCGM_FI_DEV_GPU_TEMP": "dcgm_gpu_temp",
            "DCGM_FI_DEV_GPU_UTIL": "dcgm_gpu_utilization",
            "DCGM_FI_DEV_XID_ERRORS": "dcgm_xid_errors",
        },
    ),
    ForeignDialect(
        name="two exporters for the same GPUs",
        named={"Hostname": "{name}", "instance": "{host}:9400"},
        is_twice=True,
    ),
    ForeignDialect(name="upper case", named={"Hostname": "{upper}", "instance": _SAME}),
    ForeignDialect(
        name="federation without honor_labels",
        named={
            "instance": "prometheus:9090",
            "exported_instance": "{host}:9400",
            "exported_job": "dcgm-exporter",
        },
    ),
    ForeignDialect(
        name="OpenTelemetry: the collector's node beside the address",
        named={"instance": "{host}:9400", "k8s_node_name": "gpu-c", "k8s_cluster_name": "prod"},
    ),
    ForeignDialect(name="a provider's ID", named={"provider_id": "gce://p/z/{name}", "instance": _SAME}),
    ForeignDialect(
        name="a prefix before all metrics",
        named={"Hostname": "{name}"},
        metrics={name: f"acme_{name}" for name in _METRICS},
    ),
    ForeignDialect(
        name="all metrics in lower case",
        named={"node_name": "{name}"},
        metrics={name: name.lower() for name in _METRICS},
    ),
    ForeignDialect(name="the cluster before the node", named={"Hostname": "prod/{name}", "instance": _SAME}),
)


def by_hand(nodes: tuple[GpuNode, ...]) -> tuple[GpuNode, ...]:
    """Return the same nodes as a second exporter names them, which somebody made by hand."""
    return tuple(
        replace(
            one,
            named={"host": one.name, "instance": f"{one.host}:9835", "job": "nvidia-smi"},
            missing=frozenset({"gpu", "modelName", "Hostname"}),
            renamed={"UUID": "uuid"},
            pod_labels=(),
            is_honoured=True,
        )
        for one in nodes
    )
