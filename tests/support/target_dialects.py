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

_CENTRAL = (
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
# In no chart and no table: what people, collectors and clouds make of labels.
_SAME = "localhost:{port}"
_GPUS_BY_HAND = (
    TargetLabels(
        name="attributes of OpenTelemetry",
        labels={
            "job": "otel-collector",
            "instance": "{pod_ip}:{port}",
            "k8s_node_name": "{name}",
            "k8s_pod_name": "{pod}",
            "k8s_namespace_name": "gpu-operator",
        },
    ),
    TargetLabels(name="an address in a label in no list", labels={"instance": _SAME, "node_ip": "{host}"}),
    TargetLabels(name="a URL", labels={"job": "gpus", "instance": "http://{host}:{port}/metrics"}),
    TargetLabels(name="one Hostname for all", labels={"Hostname": "dcgm", "instance": "{pod_ip}:{port}"}),
    TargetLabels(
        name="Hostname of the target before that of the series",
        labels={"Hostname": "{pod}", "exported_Hostname": "{name}", "instance": "{pod_ip}:{port}"},
    ),
    TargetLabels(name="full host name in upper case", labels={"Hostname": "{upper}.CORP.EXAMPLE.COM"}),
    TargetLabels(name="the collector of text files", labels={"job": "node", "instance": "{host}:9100"}),
    TargetLabels(name="gpu_id", labels={"Hostname": "{name}"}, renamed={"gpu": "gpu_id"}),
    TargetLabels(
        name="a label of the node, and node for its pool",
        labels={"node": "pool-a", "kubernetes_io_hostname": "{name}", "instance": _SAME},
    ),
    TargetLabels(
        name="a host name of the cloud beside the address",
        labels={"Hostname": "{dashed}.ec2.internal", "instance": "{host}:{port}"},
    ),
    TargetLabels(
        name="scraped twice",
        labels={"job": "dcgm-exporter", "Hostname": "{name}", "instance": "{pod_ip}:{port}", **_OWN},
        again={"job": "kubernetes-pods", "Hostname": "{name}", "instance": "{host}:{port}", "node": "{name}"},
    ),
)
_HOSTS_BY_HAND = (
    TargetLabels(name="a URL", labels={"job": "nodes", "instance": "http://{host}:{port}/metrics"}),
    TargetLabels(name="k8s_node_name alone", labels={"instance": _SAME, "k8s_node_name": "{name}"}),
    TargetLabels(name="an address in a label in no list", labels={"instance": _SAME, "node_ip": "{host}"}),
    TargetLabels(
        name="a host name of the cloud, and node",
        labels={"instance": "{dashed}.ec2.internal:{port}", "node": "{name}"},
    ),
    TargetLabels(
        name="the pod's address, and node for its pool",
        labels={"instance": "{pod_ip}:{port}", "node": "pool-a", "kubernetes_io_hostname": "{name}"},
    ),
    TargetLabels(name="full host name in upper case", labels={"instance": "{upper}.CORP.EXAMPLE.COM:{port}"}),
    TargetLabels(
        name="scraped twice",
        labels={"job": "{exporter}", "instance": "{host}:{port}", "node": "{name}"},
        again={"job": "kubernetes-pods", "instance": "{pod_ip}:{port}", "node": "{name}", "pod": "{pod}"},
    ),
)
_CENTRAL_BY_HAND = (
    TargetLabels(
        name="attributes of OpenTelemetry",
        labels={
            "job": "otel-collector",
            "instance": "{pod_ip}:{port}",
            "k8s_node_name": "{elsewhere}",
            "k8s_pod_name": "{pod}",
            "k8s_namespace_name": "{namespace}",
        },
    ),
    TargetLabels(
        name="all labels of the service",
        labels={
            **_COMMUNITY,
            "component": "metrics",
            "tier": "system",
            "release": "a",
            "kubernetes_node": "{name}",
        },
        honours=False,
    ),
    TargetLabels(
        name="scraped twice",
        labels=_POD,
        again={**_POD, "job": "kubernetes-pods", "instance": "{pod_ip}:1{port}"},
    ),
)
_TEN = tuple(map(_of_node, TEN))
GPUS = (*_TEN, *map(_of_foreign, FOREIGN), *_GPUS_BY_HAND)
HOSTS = (*_hosts(), *_HOSTS_BY_HAND)
_EACH_ANOTHER = "each node another"


def _in_turn(dialects: tuple[TargetLabels, ...]) -> Iterator[tuple[str, tuple[TargetLabels, ...]]]:
    for one in dialects:
        yield one.name, (one,)


# By the name of the choice: the dialects of the nodes in turn.
OF_KIND: Mapping[ExporterKind, tuple[tuple[str, tuple[TargetLabels, ...]], ...]] = {
    ExporterKind.GPU: (*_in_turn(GPUS), (_EACH_ANOTHER, _TEN)),
    ExporterKind.HOST: (*_in_turn(HOSTS), (_EACH_ANOTHER, HOSTS[:7])),
    ExporterKind.CENTRAL: tuple(_in_turn((*_CENTRAL, *_CENTRAL_BY_HAND))),
}
