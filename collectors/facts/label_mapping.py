"""The subject of an alert from its labels, for the labels of many exporters. Pure; the mapping is data.

A series also carries the labels of its scrape target. In common charts, `pod` and `namespace` on a GPU's series are
the exporter's own, and the affected pod is in `exported_pod`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from collectors.facts.subjects import Subject


class ExporterScope(StrEnum):
    """What an exporter's series describe; a target that is not an exporter describes itself."""

    NODE = "node"  # the node it runs on
    OTHERS = "others"  # objects elsewhere: its own location means nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Exporter:
    """An exporter, recognised by its `job`, or by the name of its own pods, containers and services."""

    name: re.Pattern[str]
    scope: ExporterScope
    words: str = ""  # of the pattern: its names, with `|` between them
    jobs: frozenset[str] = frozenset()  # further names of its job, too common to recognise its pods by

    def is_own(self, label: str) -> bool:
        return _matches(self.name, label)


@lru_cache(maxsize=8192)  # a cluster has few names, and they repeat in each cycle
def _matches(pattern: re.Pattern[str], label: str) -> bool:
    return pattern.search(label) is not None


def _exporter(pattern: str, about: ExporterScope, *jobs: str) -> Exporter:
    name = re.compile(rf"(^|[-/])({pattern})([-/]|$)")
    return Exporter(name=name, scope=about, words=pattern, jobs=frozenset(jobs))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelMapping:
    """The labels that name each field of a subject, best first."""

    nodes: Sequence[str] = ("exported_node", "node", "Hostname", "hostname", "kubernetes_node", "nodename")
    pods: Sequence[tuple[str, str, str]] = (  # namespace, pod, container
        ("exported_namespace", "exported_pod", "exported_container"),
        ("pod_namespace", "pod_name", "container_name"),
        ("namespace", "pod_name", "container_name"),
        ("namespace", "pod", "container"),
    )
    gpus: Sequence[str] = ("gpu", "gpu_index", "minor_number", "device")
    uuids: Sequence[str] = ("UUID", "uuid", "gpu_uuid")
    workloads: Mapping[str, str] = field(
        default_factory=lambda: {
            "deployment": "Deployment",
            "statefulset": "StatefulSet",
            "daemonset": "DaemonSet",
            "cronjob": "CronJob",
            "job_name": "Job",
            "replicaset": "ReplicaSet",
        }
    )
    owner: tuple[str, str] = ("workload", "workload_type")  # of the mixins' recording rules
    claims: Sequence[str] = ("exported_persistentvolumeclaim", "persistentvolumeclaim")
    trainings: Sequence[str] = ("training", "label_yardmaster_io_training", "label_training")
    racks: Sequence[str] = ("rack", "label_topology_kubernetes_io_rack")
    exporters: Sequence[Exporter] = (
        _exporter("kube-state-metrics", ExporterScope.OTHERS),
        _exporter("rook-ceph-mgr|ceph-mgr|rook-ceph-exporter|ceph-exporter", ExporterScope.OTHERS),
        _exporter("blackbox-exporter|pushgateway|elasticsearch-exporter|snmp-exporter", ExporterScope.OTHERS),
        _exporter(
            "dcgm-exporter|dcgm|gpu-metrics-exporter|device-metrics-exporter|npu-exporter|gpu-manager",
            ExporterScope.NODE,
        ),
        _exporter(
            "node-exporter|process-exporter|smartctl-exporter|ipmi-exporter",
            ExporterScope.NODE,
            "node",
            "nodes",
        ),
        _exporter("kubelet|cadvisor|node-problem-detector", ExporterScope.NODE),
    )
    components: Sequence[tuple[re.Pattern[str], str]] = tuple(
        (re.compile(rf"^({pattern})$"), component)
        for pattern, component in (
            (r"coredns|kube-dns|node-local-dns|nodelocaldns|.*coredns|.*dns-autoscaler", "dns"),
            (r"(rook-)?ceph.*", "ceph"),
            (r"(kube-|kubernetes-)?apiservers?", "apiserver"),
            (r"(kube-)?etcd.*", "etcd"),
            (r"kube-scheduler", "scheduler"),
            (r"kube-controller-manager", "controller-manager"),
            (r"kubelet", "kubelet"),
            (r"kube-proxy", "kube-proxy"),
            (r"calico.*", "calico"),
            (r"metallb.*", "metallb"),
            (r"kube-state-metrics", "kube-state-metrics"),
            (r"prometheus.*", "prometheus"),
            (r"alertmanager.*", "alertmanager"),
            (r"elasticsearch.*", "elasticsearch"),
            (r"volcano.*", "volcano"),
            (r"kueue.*", "kueue"),
        )
    )


DEFAULT = LabelMapping()

NAMING_LABELS = frozenset(
    {
        *("instance", "job", "endpoint", "service", "host", "node_name"),
        *DEFAULT.nodes,
        *(name for names in DEFAULT.pods for name in names),
        *(set(DEFAULT.gpus) - {"device"}),
        *DEFAULT.uuids,
    }
)
"""The labels that say which node, GPU or pod a series is about, or where it was scraped."""

_GPU_MARKS = ("gpu", "UUID", "GPU_I_ID", "modelName", "DCGM_FI_DRIVER_VERSION")
_GPU_NUMBER = re.compile(r"^(?:gpu|nvidia)?(\d+)$")
_NO_CONTAINER = ("", "POD")


def subject_of(labels: Mapping[str, str], *, mapping: LabelMapping = DEFAULT) -> Subject:
    """Return the subject of these labels. Unknown fields stay empty; owner and team are never read from labels.

    The node may still be an address: `Topology.complete` resolves it and fills in the rest.
    """
    exporter = _exporter_of(labels, mapping)
    namespace, pod, container = _target_pod(labels, exporter, mapping)
    workload = _owner(labels, mapping) or _first_pair(labels, mapping.workloads)
    claim = _first(labels, mapping.claims)
    if not namespace and (pod or workload or claim or exporter is None):
        namespace = labels.get("exported_namespace") or labels.get("namespace", "")
    has_target = bool(pod or workload or claim)
    return Subject(
        cluster=labels.get("cluster", ""),
        rack=_first(labels, mapping.racks),
        node=_node(labels, exporter, has_target, mapping),
        gpu=_gpu(labels, mapping),
        uuid=next(
            (uuid for name in mapping.uuids if (uuid := labels.get(name, ""))[:4] in ("GPU-", "MIG-")), ""
        ),
        namespace=namespace or labels.get("exported_namespace", ""),
        pod=pod,
        container=container,
        training=_training(labels, namespace, mapping),
        workload=f"{namespace}/{workload[0]}/{workload[1]}" if workload and namespace else "",
        service=_service(labels, exporter, namespace),
        volume=_volume(labels, namespace, claim),
        component=_component(labels, exporter, has_target, mapping),
    )


def _exporter_of(labels: Mapping[str, str], mapping: LabelMapping) -> Exporter | None:
    if job := labels.get("job", ""):
        found = (one for one in mapping.exporters if job in one.jobs or one.is_own(job))
        return next(found, None) or _by_own_name(labels, mapping)
    return _by_own_name(labels, mapping)


def _by_own_name(labels: Mapping[str, str], mapping: LabelMapping) -> Exporter | None:
    """Find the exporter by the target's own pod or container: its job has another name, or was aggregated away."""
    if not ("instance" in labels or any(mark in labels for mark in _GPU_MARKS)):
        return None
    for one in mapping.exporters:
        if any(one.is_own(labels[name]) for name in ("container", "pod", "service") if name in labels):
            return one
    return None


def _target_pod(
    labels: Mapping[str, str], exporter: Exporter | None, mapping: LabelMapping
) -> tuple[str, str, str]:
    for namespace_label, pod_label, container_label in mapping.pods:
        pod = labels.get(pod_label, "")
        if not pod or (exporter and pod_label == "pod" and exporter.is_own(pod)):
            continue
        container = labels.get(container_label, "")
        if container in _NO_CONTAINER or (exporter and exporter.is_own(container)):
            container = ""
        namespace = labels.get(namespace_label, "")
        if namespace or pod_label != "pod_name":
            return namespace, pod, container
    return "", "", ""


def _node(
    labels: Mapping[str, str], exporter: Exporter | None, has_target: bool, mapping: LabelMapping
) -> str:
    if node := _first(labels, mapping.nodes):
        return node
    instance = labels.get("instance", "")
    is_elsewhere = exporter is not None and exporter.scope is ExporterScope.OTHERS
    return "" if is_elsewhere or has_target or "/" in instance else instance


def _gpu(labels: Mapping[str, str], mapping: LabelMapping) -> str:
    """Return the plain index, for a MIG slice too, so that it fits a command line."""
    for name in mapping.gpus:
        if number := _GPU_NUMBER.match(labels.get(name, "")):
            if name == "device" and not labels[name].startswith("nvidia"):
                continue
            return number[1]
    return ""


def _training(labels: Mapping[str, str], namespace: str, mapping: LabelMapping) -> str:
    training = _first(labels, mapping.trainings)
    if "/" in training:
        return training
    return f"{namespace}/{training}" if training and namespace else ""


def _service(labels: Mapping[str, str], exporter: Exporter | None, namespace: str) -> str:
    service = labels.get("exported_service", "")
    is_target = "instance" in labels or "job" in labels or "endpoint" in labels
    if not service and (not is_target or (exporter and exporter.scope is ExporterScope.OTHERS)):
        own = labels.get("service", "")
        service = "" if exporter and exporter.is_own(own) else own
    namespace = namespace or labels.get("exported_namespace", "") or labels.get("namespace", "")
    return f"{namespace}/{service}" if service and namespace else ""


def _volume(labels: Mapping[str, str], namespace: str, claim: str) -> str:
    if claim:
        return f"{namespace}/{claim}" if namespace else claim
    if labels.get("pool") and labels.get("image"):
        return f"{labels['pool']}/{labels['image']}"
    return labels.get("persistentvolume", "")


def _component(
    labels: Mapping[str, str], exporter: Exporter | None, has_target: bool, mapping: LabelMapping
) -> str:
    if component := labels.get("exported_component") or labels.get("component"):
        return _named(component, mapping) or component
    if "ceph_daemon" in labels:
        return "ceph"
    is_about_a_node = exporter and exporter.scope is ExporterScope.OTHERS and _first(labels, mapping.nodes)
    if exporter and (has_target or is_about_a_node or _first(labels, _GPU_MARKS)):
        return ""  # the exporter only reports it
    candidates = ("job", "deployment", "daemonset", "statefulset", "container", "namespace")
    found = (_named(labels[name], mapping) for name in candidates if name in labels)
    return next((one for one in found if one), "")


def _named(label: str, mapping: LabelMapping) -> str:
    return next((component for pattern, component in mapping.components if _matches(pattern, label)), "")


def _first(labels: Mapping[str, str], names: Sequence[str]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")


def _owner(labels: Mapping[str, str], mapping: LabelMapping) -> tuple[str, str] | None:
    """Return the kind and the name of a workload. The mixins write the kinds of Kubernetes in lower case."""
    name, kind = (labels.get(label, "") for label in mapping.owner)
    return (mapping.workloads.get(kind, "Job" if kind == "job" else kind), name) if name and kind else None


def _first_pair(labels: Mapping[str, str], kinds: Mapping[str, str]) -> tuple[str, str] | None:
    return next(((kind, labels[name]) for name, kind in kinds.items() if labels.get(name)), None)
