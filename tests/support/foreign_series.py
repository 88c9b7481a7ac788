"""The series of a pack's cases, and how other charts, agents and relabelling label the targets that give them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import zip_longest

from collectors.facts.labels import Labels
from collectors.sources.prometheus.dialects.families import DCGM

_SERIES = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})?", re.S)
_LABEL = re.compile(r'\s*(\w+)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?')
_VALUES = re.compile(r"(_|-?[\d.e]+|stale)([+-][\d.e]+)?(?:x(\d+))?")
WORKLOAD = ("exported_namespace", "exported_pod", "exported_container")  # of what holds a GPU


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSeries:
    """A series of a case, with its values as promtool writes them."""

    metric: str
    labels: Mapping[str, str]
    values: str

    @classmethod
    def of(cls, text: str, values: str) -> "InputSeries":
        """Read a series as promtool writes it."""
        found = _SERIES.fullmatch(text.strip())
        assert found is not None, text
        return cls(metric=found[1], labels=dict(_LABEL.findall(found[2] or "")), values=values)

    def __str__(self) -> str:
        return self.metric + "{" + ",".join(f'{name}="{value}"' for name, value in self.labels.items()) + "}"


class ExporterKind(StrEnum):
    """Where an exporter runs, and what its series are about."""

    GPU = "dcgm-exporter"  # on each GPU node; about its GPUs
    HOST = "an exporter of hosts"  # on each node; about it
    CENTRAL = "an exporter of the cluster"  # somewhere; about other things


_KINDS: tuple[tuple[ExporterKind, str | tuple[str, ...], str, int], ...] = (
    (ExporterKind.GPU, DCGM.prefix, "nvidia-dcgm-exporter", 9400),
    (ExporterKind.HOST, ("node_",), "node-exporter", 9100),
    (ExporterKind.HOST, ("kubelet_", "storage_operation_", "csi_operations_"), "kubelet", 10250),
    (ExporterKind.HOST, ("problem_",), "node-problem-detector", 20257),
    (ExporterKind.HOST, ("felix_",), "calico-node", 9091),
    (ExporterKind.HOST, ("gpu_operator_",), "nvidia-node-status-exporter", 8000),
    (ExporterKind.HOST, ("etcd_",), "etcd", 2379),
    (ExporterKind.HOST, ("Hadoop_", "hadoop_"), "namenode", 7071),
    (ExporterKind.HOST, ("up",), "", 0),
    (ExporterKind.CENTRAL, ("kube_",), "kube-state-metrics", 8080),
    (ExporterKind.CENTRAL, ("coredns_",), "coredns", 9153),
    (ExporterKind.CENTRAL, ("apiserver_",), "kube-apiserver", 6443),
    (ExporterKind.CENTRAL, ("ipam_",), "calico-kube-controllers", 9094),
    (ExporterKind.CENTRAL, ("",), "exporter", 9090),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterOfSeries:
    """An exporter by its metrics: its kind, the name of its pods, and its port."""

    kind: ExporterKind
    name: str
    port: int

    @classmethod
    def of(cls, one: InputSeries) -> "ExporterOfSeries":
        """Return the exporter of a series; that of `up` by its port."""
        kind, _, name, port = next(known for known in _KINDS if one.metric.startswith(known[1]))
        if not name:
            port = int(one.labels.get("instance", "").rpartition(":")[2] or 0)
            names = (name for _, _, name, usual in _KINDS if usual == port)
            name = next(names, one.labels.get("job", ""))
        return cls(kind=kind, name=name, port=port)

    @property
    def is_of_targets(self) -> bool:
        """Whether labels such as `namespace` of its series are the target's, and not what the series are about."""
        about_others = ("kubelet", "kube-state-metrics", "kube-apiserver", "calico-kube-controllers")
        return self.kind is not ExporterKind.GPU and self.name not in about_others


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetLabels:
    """How a cluster labels the targets of one kind of exporter.

    `labels` may have `{name}`, `{upper}`, `{host}`, `{dashed}` (the address as a host name), `{pod}`, `{pod_ip}`,
    `{namespace}`, `{port}`, `{exporter}` and `{elsewhere}`, a node that has nothing to do with the series.
    `honours`: what series say themselves stays, else it is `exported_…`. `workload` are the labels of namespace, pod
    and container of what holds a GPU. `renamed` are labels of the series with another name, `missing` those that they
    lack. `prefix` and `is_lower` are of the names of metrics, `metrics` other ones. `shards` are the targets among
    which the series of kube-state-metrics are divided. `again`: everything is scraped a second time, with these labels.
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    honours: bool = True
    workload: tuple[str, ...] = WORKLOAD
    renamed: Mapping[str, str] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    prefix: str = ""
    is_lower: bool = False
    metrics: Mapping[str, str] = field(default_factory=dict)
    shards: int = 1
    again: Mapping[str, str] = field(default_factory=dict)

    def of_series(self, one: InputSeries, own: Mapping[str, str], target: Mapping[str, str]) -> InputSeries:
        """Return the series with these labels of its own and of its target."""
        said = {self.renamed.get(name, name): text for name, text in own.items() if name not in self.missing}
        if not self.honours:
            said = {f"exported_{name}" if name in target else name: text for name, text in said.items()}
        metric = self.metrics.get(one.metric, one.metric)
        return replace(
            one,
            metric=self.prefix + (metric.lower() if self.is_lower else metric),
            labels={**target, **said},
        )


def united(series: Iterable[InputSeries]) -> tuple[InputSeries, ...]:
    """Return the series, those with the same labels as one: the exporter's pod before and after it was replaced."""
    found: dict[tuple[str, Labels], InputSeries] = {}
    for one in series:
        key = one.metric, Labels(one.labels)
        before = found.get(key)
        found[key] = one if before is None else replace(one, values=_overlaid(before.values, one.values))
    return tuple(found.values())


def _overlaid(values: str, later: str) -> str:
    """Return the values with the later ones where there are any."""
    pairs = zip_longest(_expanded(values), _expanded(later), fillvalue="_")
    return " ".join(new if new not in ("_", "stale") else old for old, new in pairs)


def _expanded(values: str) -> Iterator[str]:
    """Return each value: `1x2` is three, and `_x2` two."""
    for word in values.split():
        found = _VALUES.fullmatch(word)
        assert found is not None, word
        start, by, times = found.groups()
        for number in range(int(times or 0) + (start != "_" or times is None)):
            yield f"{float(start) + number * float(by):g}" if by else start
