"""The foreign dialects for the packs' cases: of exporters of GPUs, of hosts and of the cluster."""

from collections.abc import Iterator, Mapping

from tests.recorded.foreign_gpus import FOREIGN, ForeignDialect
from tests.support.foreign_series import ExporterKind, TargetLabels
from tests.support.gpu_dialects import TEN, GpuNode
from tests.support.scrape_styles import NODE_DIALECTS

_OWN = {"namespace": "gpu-operator", "pod": "{pod}", "container": "nvidia-dcgm-exporter"}


def _of_node(node: GpuNode) -> TargetLabels:
    """Return how the series of one of the ten nodes are labelled, for any node."""
    words = {node.exporter: "{pod}", node.name: "{name}", node.host: "{host}"}
    named = {}
    for label, text in node.named.items():
        for word, placeholder in words.items():
            text = text.replace(word, placeholder)
        named[label] = text.replace(":9400", ":{port}")
    return TargetLabels(
        name=f"as {node.name}",
        labels={
            "job": "dcgm-exporter",
            "instance": "{pod_ip}:{port}",
            **({} if node.is_honoured else _OWN),
            **named,
        },
        workload=node.pod_labels,
        renamed={"UUID": node.uuid_label} if node.uuid_label != "UUID" else {},
    )


def _of_foreign(one: ForeignDialect) -> TargetLabels:
    texts = set(one.metrics.items())
    prefix = "acme_" if any(other == f"acme_{name}" for name, other in texts) else ""
    is_lower = any(other == name.lower() for name, other in texts)
    named = {label: text.replace(":9400", ":{port}") for label, text in one.named.items()}
    if named.get("instance") == "localhost:{port}":
        named["instance"] = "localhost:9400"
    own = {} if one.pod_labels is None or one.pod_labels[0] == "namespace" else _OWN
    return TargetLabels(
        name=one.name,
        labels={
            "job": "dcgm-exporter",
            "instance": "{pod_ip}:{port}",
            **own,
            **{label: text.replace("gpu-c", "{elsewhere}") for label, text in named.items()},
            **one.common,
        },
        workload=one.pod_labels or (),
        renamed=one.renamed,
        missing=one.missing,
        prefix=prefix,
        is_lower=is_lower,
        metrics={} if prefix or is_lower else one.metrics,
    )


def _hosts() -> Iterator[TargetLabels]:
    for one in NODE_DIALECTS:
        labels = {label: text.replace(":9100", ":{port}") for label, text in one.labels.items()}
        yield TargetLabels(
            name=one.name,
            labels={
                "job": one.job,
                **{label: text.replace("gpu-op", "{elsewhere}") for label, text in labels.items()},
            },
        )
    yield TargetLabels(
        name="prometheus-community",
        honours=False,
        labels={
            "job": "kubernetes-service-endpoints",
            "instance": "{host}:{port}",
            "namespace": "{namespace}",
            "service": "prometheus-{exporter}",
            "node": "{name}",
            "app_kubernetes_io_name": "{exporter}",
        },
    )
    yield TargetLabels(
        name="kube-prometheus",
        labels={
            "job": "{exporter}",
            "instance": "{pod_ip}:{port}",
            "namespace": "{namespace}",
            "pod": "{pod}",
            "container": "kube-rbac-proxy",
            "endpoint": "https",
            "service": "{exporter}",
        },
    )


_POD = {
    "job": "{exporter}",
    "instance": "{pod_ip}:{port}",
    "namespace": "{namespace}",
    "pod": "{pod}",
    "container": "{exporter}",
    "endpoint": "metrics",
    "service": "{exporter}",
}
_COMMUNITY = {
    "job": "kubernetes-service-endpoints",
    "instance": "{pod_ip}:{port}",
    "namespace": "{namespace}",
    "service": "{exporter}",
    "node": "{name}",
    "app_kubernetes_io_name": "{exporter}",
}

CENTRAL = (
    TargetLabels(name="kube-prometheus", labels=_POD),
    TargetLabels(name="kube-prometheus without honorLabels", labels=_POD, honours=False),
    TargetLabels(name="prometheus-community", labels=_COMMUNITY, honours=False),
    TargetLabels(
        name="kubernetes-pods",
        labels={**_COMMUNITY, "job": "kubernetes-pods", "pod": "{pod}", "app": "{exporter}"},
        honours=False,
    ),
    TargetLabels(name="by hand", labels={"job": "{exporter}", "instance": "{exporter}.example.com:{port}"}),
    TargetLabels(name="three shards", labels=_POD, shards=3),
    TargetLabels(name="three shards without honorLabels", labels=_COMMUNITY, honours=False, shards=3),
)
GPUS = (*map(_of_node, TEN), *map(_of_foreign, FOREIGN))
HOSTS = tuple(_hosts())
OF_KIND: Mapping[ExporterKind, tuple[TargetLabels, ...]] = {
    ExporterKind.GPU: GPUS,
    ExporterKind.HOST: HOSTS,
    ExporterKind.CENTRAL: CENTRAL,
}
