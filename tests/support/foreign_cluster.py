"""The cluster of a pack's case, scraped and labelled as in another cluster: the same faults on the same nodes.

The cases are written in the dialect of the packs. Here the labels of the target are taken away, which say where a
series was scraped, and those of a foreign dialect are given.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.facts.topology import NodeFacts, PodFacts, Topology, host_of
from tests.support.foreign_series import (
    WORKLOAD,
    ExporterKind,
    ExporterOfSeries,
    InputSeries,
    TargetLabels,
    united,
)

_TARGET = ("instance", "job", "endpoint")
_TARGET_POD = ("namespace", "pod", "container", "service")
_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+")
_GPU_PROBE = "DCGM_FI_DEV_GPU_TEMP"
_OF_GPU = ("Hostname", "gpu", "UUID", "modelName", "GPU_I_ID", *WORKLOAD, *_TARGET)
# Metrics that are there wherever their exporter is, with their own labels.
_ALWAYS: tuple[tuple[str, Mapping[str, str]], ...] = (
    (_GPU_PROBE, {"gpu": "0", "UUID": "GPU-{name}-0", "modelName": "NVIDIA H100"}),
    (_GPU_PROBE, {"gpu": "1", "UUID": "GPU-{name}-1", "modelName": "NVIDIA H100"}),
    ("node_load1", {}),
    ("node_uname_info", {"nodename": "{name}"}),
    ("kubelet_running_pods", {}),
    ("kubelet_volume_stats_used_bytes", {"namespace": "shop", "persistentvolumeclaim": "web"}),
    ("kubelet_node_name", {}),
    ("felix_resync_state", {}),
    ("gpu_operator_node_driver_validation", {}),
    ("etcd_server_has_leader", {}),
    ("Hadoop_NameNode_CapacityTotal", {"name": "FSNamesystem"}),
    ("problem_counter", {"reason": "OOMKilling"}),
    ("kube_node_status_capacity", {"node": "{name}", "resource": "cpu", "unit": "core"}),
    ("kube_pod_info", {"namespace": "shop", "pod": "web-0", "node": "{name}"}),
    ("ipam_allocations_in_use", {"ippool": "default", "node": "{name}"}),
    ("coredns_dns_requests_total", {"server": "dns://:53", "zone": "."}),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A node. `host` is its address."""

    name: str
    number: int
    host: str

    def pod_ip(self, exporter: ExporterOfSeries) -> str:
        return f"10.244.{self.number}.{exporter.port % 200 + 10}"


# Nodes where nothing happens.
ELSEWHERE = tuple(
    Place(name=f"quiet-{number}", number=number, host=f"10.77.0.{number}") for number in range(1, 4)
)


Dialects = Mapping[ExporterKind, Sequence[TargetLabels]]  # of the nodes in turn


class CaseCluster:
    """The nodes, pods and series of one case. `others` are series beside the case's."""

    def __init__(self, series: Sequence[InputSeries], dialects: Dialects) -> None:
        self._given = series
        self._dialects = dialects
        self._keeps_jobs = any(one.metric == "up" for one in series)
        self._places = _places(series)
        self._pods: dict[tuple[str, str], PodFacts] = {}
        self._targets: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for one in series:  # a series that says no address is of the first target of its node that has one
            if one.labels.get("instance"):
                tuple(self._relabelled(one, 0))
        self.series = united(
            each for number, one in enumerate(series) for each in self._relabelled(one, number)
        )
        self.others = tuple(self._companions())

    @property
    def topology(self) -> Topology:
        places = (*self._places.values(), *ELSEWHERE)
        addresses = {one.host: one.name for one in places}
        addresses |= {pod.address: pod.node for pod in self._pods.values() if pod.address}
        return Topology(
            cluster="lab",
            nodes={one.name: NodeFacts(name=one.name, addresses=(one.host,), gpus=8) for one in places},
            pods=dict(self._pods),
            node_of_address=addresses,
        )

    def _relabelled(self, one: InputSeries, number: int) -> Iterator[InputSeries]:
        exporter = ExporterOfSeries.of(one)
        if exporter.kind is ExporterKind.CENTRAL:
            shards = self._dialects[exporter.kind][0].shards if exporter.name == "kube-state-metrics" else 1
            yield from self._scraped(one, exporter, ELSEWHERE[number % shards])
        else:
            yield from self._scraped(one, exporter, self._places[_node_of(one, self._places)])

    def _scraped(self, one: InputSeries, exporter: ExporterOfSeries, place: Place) -> Iterator[InputSeries]:
        """Return the series as the dialect of the node has it, of an exporter there."""
        some = self._dialects[exporter.kind]
        dialect = some[0] if exporter.kind is ExporterKind.CENTRAL else some[place.number % len(some)]
        said = {*_TARGET, *(_TARGET_POD if exporter.is_of_targets else ())}
        own = {name: value for name, value in one.labels.items() if name not in said}
        if exporter.kind is ExporterKind.HOST:
            own.pop("node", "")
        if exporter.kind is ExporterKind.GPU:
            held = [own.pop(name, "") for name in WORKLOAD]
            own = {name: value for name, value in own.items() if name not in ("Hostname", *_TARGET_POD)}
            if "gpu" in own:
                own.setdefault("device", f"nvidia{own['gpu']}")
            if held[1]:
                own |= {name: value for name, value in zip(dialect.workload, held, strict=False) if value}
                self._add(PodFacts(namespace=held[0], name=held[1], node=place.name, gpus=1))
        for labels in (dialect.labels, dialect.again):
            if labels:
                yield dialect.of_series(one, own, self._target(one, exporter, place, labels))

    def _target(
        self, one: InputSeries, exporter: ExporterOfSeries, place: Place, labels: Mapping[str, str]
    ) -> dict[str, str]:
        """Return the labels of the series' target; several of one exporter on a node have ports of their own."""
        known = self._targets.setdefault((exporter.name, place.name), [])
        key = one.labels.get("instance", ""), one.labels.get("job", "")
        if key not in known and not (known and not key[0]):
            known.append(key)
        number = known.index(key) if key in known else 0
        pod, namespace = f"{exporter.name}-{place.number:03d}x{number}q", "monitoring"
        if exporter.kind is ExporterKind.CENTRAL and exporter.is_of_targets:
            pod, namespace = one.labels.get("pod", pod), one.labels.get("namespace", namespace)
        address = f"10.245.{place.number}.{number}" if number else place.pod_ip(exporter)
        self._add(PodFacts(namespace=namespace, name=pod, node=place.name, address=address))
        words = {
            "name": place.name,
            "upper": place.name.upper(),
            "host": place.host,
            "dashed": "ip-" + place.host.replace(".", "-"),
            "pod": pod,
            "namespace": namespace,
            "pod_ip": address,
            "port": str(exporter.port + number),
            "exporter": exporter.name,
            "elsewhere": ELSEWHERE[1].name,
        }
        found = {name: text.format(**words) for name, text in labels.items()}
        if self._keeps_jobs and "job" in one.labels:
            found["job"] = one.labels["job"]
        elif number and not any(word in labels.get("instance", "") for word in ("{pod_ip}", "{port}")):
            found["job"] = f"{found.get('job', '')}-{number}"
        return found

    def _add(self, pod: PodFacts) -> None:
        self._pods.setdefault((pod.namespace, pod.name), pod)

    def _companions(self) -> Iterator[InputSeries]:
        """Return what the same exporters, and those of other nodes, give beside the case's series."""
        exporters = {ExporterOfSeries.of(one) for one in self._given}
        for one in self._given:
            if ExporterOfSeries.of(one).kind is ExporterKind.GPU:
                kept = {name: one.labels[name] for name in _OF_GPU if name in one.labels}
                yield from self._relabelled(replace(one, metric=_GPU_PROBE, labels=kept), 0)
        for metric, labels in _ALWAYS:
            exporter = ExporterOfSeries.of(InputSeries(metric=metric, labels={}, values=""))
            if exporter not in exporters and metric != "node_uname_info":
                continue
            has_its_own = exporter.kind is ExporterKind.GPU  # the case says which GPUs its nodes have
            for place in (*(() if has_its_own else self._places.values()), *ELSEWHERE):
                said = {name: text.format(name=place.name) for name, text in labels.items()}
                one = InputSeries(metric=metric, labels=said, values="1x300")
                runs_on = ELSEWHERE[0] if exporter.kind is ExporterKind.CENTRAL else place
                yield from self._scraped(one, exporter, runs_on)


def _places(series: Sequence[InputSeries]) -> dict[str, Place]:
    """Return the nodes that the series name, in the order in which they come."""
    named: dict[str, str] = {}  # node by its address
    hosts: dict[str, str] = {}  # address by the node
    for one in series:
        kind, host = ExporterOfSeries.of(one).kind, host_of(one.labels.get("instance", ""))
        node = one.labels.get("nodename", "").partition(".")[0]
        if kind is ExporterKind.HOST:
            node = node or one.labels.get("node", "")
        if node and kind is not ExporterKind.CENTRAL:
            hosts.setdefault(named.setdefault(host, node), host)
    for one in series:
        kind, host = ExporterOfSeries.of(one).kind, host_of(one.labels.get("instance", ""))
        if kind is ExporterKind.HOST and host:
            hosts.setdefault(named.setdefault(host, _named(host)), host)
        label = {ExporterKind.GPU: "Hostname", ExporterKind.CENTRAL: "node"}.get(kind, "")
        if node := one.labels.get(label, ""):
            hosts.setdefault(node, "")
    found = {}
    for number, (name, host) in enumerate(hosts.items(), start=20):
        is_host = _ADDRESS.fullmatch(host) and not host.startswith("10.244.")  # else a pod's
        found[name] = Place(name=name, number=number, host=host if is_host else f"10.9.0.{number}")
    return found


def _named(host: str) -> str:
    return f"host-{host.replace('.', '-')}" if _ADDRESS.fullmatch(host) else host


def _node_of(one: InputSeries, places: Mapping[str, Place]) -> str:
    if ExporterOfSeries.of(one).kind is ExporterKind.GPU:
        return one.labels.get("Hostname", "")
    host = host_of(one.labels.get("instance", ""))
    named = one.labels.get("node") or one.labels.get("nodename", "").partition(".")[0]
    return named or next((place.name for place in places.values() if host in (place.host, place.name)), "")
