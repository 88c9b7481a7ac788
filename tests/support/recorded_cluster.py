"""A cluster in time: the series of its exporters, made from recordings, with faults that begin and end."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial

from tests.support.exporter_pages import RECORDED_NODE, PageSample, page, scraped
from tests.support.gpu_dialects import STEP, GpuNode
from tests.support.recorded_control_plane import control_plane
from tests.support.scrape_styles import KUBE_PROMETHEUS, ChartStyle

DNS_RATE = 200.0  # answers in a second
_GB = 1 << 30
ALL_EXPORTERS = frozenset({"node_exporter", "dcgm", "kube-state-metrics", "coredns", "control plane"})


class FaultKind(StrEnum):
    HOT = "a hot GPU"
    XID = "XID 79"
    GONE = "a GPU without metrics"
    IDLE = "an idle GPU"
    BUSY = "a busy node"
    MEMORY = "memory"
    DISK = "disk"
    DOWN = "a node_exporter that is down"
    CAPACITY = "capacity of one GPU less"
    ALLOCATABLE = "a GPU that is not allocatable"
    NOT_READY = "a node that is not ready"
    SERVFAIL = "DNS that fails"
    SLOW_KUBELET = "a slow kubelet"
    UNSCRAPED = "Prometheus that is down"
    UNHEALTHY = "a GPU that its driver finds unhealthy"
    ECC = "errors of a GPU's memory that cannot be corrected"
    CLOCK = "a GPU at a low clock"
    THROTTLED = "a GPU that throttles"
    FLAPPING_LINK = "a network port of a GPU that goes up and down"
    HOT_OPTICS = "a hot optical module"
    NO_EXPORTER = "an exporter of GPUs that is down"
    ERROR_CODE = "an error code of a GPU"
    CORRECTED = "errors of a GPU's memory that are corrected, many of them"
    ISOLATED = "rows or pages of a GPU's memory that are out of use"
    HOT_MEMORY = "hot memory of a GPU"
    HELD_MEMORY = "a GPU that its memory's heat holds back"
    POWER_CAPPED = "a GPU that its power limit holds back"
    FULL = "a GPU's memory that is full"
    REPLAYS = "PCIe transfers that are repeated"
    SLOW_LINK = "a PCIe link below its speed"
    PORT_DOWN = "a network port of a GPU that is down"
    NO_NETWORK = "a GPU whose network reaches nobody"
    BAD_PACKETS = "damaged packets at a GPU's network port"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault of some nodes, or of the cluster, from its beginning until it is fixed. GPU 0 is the faulty one."""

    kind: FaultKind
    nodes: frozenset[str] = frozenset()
    begins: datetime
    ends: datetime

    def is_on(self, at: datetime, node: str = "") -> bool:
        return self.begins <= at < self.ends and (not self.nodes or node in self.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCluster:
    """What Prometheus scraped of these nodes from `start` to `end`. `node_labels` are those of node_exporters' targets.

    `dcgm_job` may have `{node}` for the node's name. `common` are labels that all series have. Of exporters that are
    not in `exporters` there is only `up`.
    """

    nodes: tuple[GpuNode, ...]
    start: datetime
    end: datetime
    faults: tuple[Fault, ...] = ()
    style: ChartStyle = KUBE_PROMETHEUS
    node_labels: Callable[[GpuNode], Mapping[str, str]] | None = None
    dcgm_job: str = ""
    common: tuple[tuple[str, str], ...] = ()
    exporters: frozenset[str] = ALL_EXPORTERS
    also: tuple[GpuNode, ...] = ()  # as a second exporter names the same GPUs
    metrics: tuple[tuple[str, str], ...] = ()  # of GPUs that have another name
    resource: str = "nvidia.com/gpu"
    units: int = 1  # of the resource for one GPU

    def has(self, kind: FaultKind, at: datetime, node: str = "") -> bool:
        """Whether the node, or the cluster, has a fault of this kind then."""
        return any(one.kind is kind and one.is_on(at, node) for one in self.faults)

    @property
    def moments(self) -> Sequence[datetime]:
        return [self.start + number * STEP for number in range((self.end - self.start) // STEP + 1)]

    def openmetrics(self) -> Iterator[str]:
        """Yield the samples as OpenMetrics, each metric and each series in one piece."""
        lines: dict[str, list[str]] = {}
        moments = [at for at in self.moments if not self.has(FaultKind.UNSCRAPED, at)]
        times = [f"{at.timestamp():.3f}" for at in moments]
        for metric, labels, value in self.series():
            whole = {**labels, **dict(self.common)}
            shown = ",".join(f'{name}="{text}"' for name, text in sorted(whole.items()))
            found = lines.setdefault(metric, [])
            for at, time in zip(moments, times, strict=True):
                if (number := value(at)) is not None:
                    found.append(f"{metric}{{{shown}}} {number!r} {time}")
        for metric in sorted(lines):
            yield from lines[metric]

    def series(self) -> Iterator["RecordedSeries"]:
        """Yield the name of each series, its labels as Prometheus stores them, and its value by the time."""
        for node in self.nodes:
            for name, series in (
                ("node_exporter", self._node_exporter),
                ("dcgm", self._dcgm),
                ("kube-state-metrics", self._state_of),
            ):
                yield from (one for one in series(node) if one[0] == "up" or name in self.exporters)
        for node in self.also:
            yield from self._dcgm(node)
        for sample in page("kube-state-metrics"):
            if sample.metric.startswith("kube_state_metrics_"):
                yield sample.metric, scraped(sample.labels, self._own_state), _constant(sample.value)
        yield "up", self._own_state, _constant(1)
        if "control plane" in self.exporters:
            yield from control_plane(
                self.style, self.nodes, self.start, partial(self._lasted, FaultKind.SLOW_KUBELET)
            )
        yield from (one for one in self._dns() if one[0] == "up" or "coredns" in self.exporters)

    @property
    def _own_state(self) -> Mapping[str, str]:
        return self.style.state

    def _node_exporter(self, node: GpuNode) -> Iterator["RecordedSeries"]:
        target = (self.node_labels or self.style.node)(node)

        def is_down(at: datetime) -> bool:
            return self.has(FaultKind.DOWN, at, node.name)

        yield "up", target, lambda at: 0.0 if is_down(at) else 1.0
        for sample in page("node_exporter"):
            value = self._of_host(sample, node.name)
            own = {name: node.name if text == RECORDED_NODE else text for name, text in sample.labels.items()}
            yield (
                sample.metric,
                scraped(own, target),
                lambda at, value=value: None if is_down(at) else value(at),  # type: ignore[misc]
            )

    def _of_host(self, sample: PageSample, node: str) -> "Value":
        match sample.metric:
            case "node_cpu_seconds_total":
                rate, more = {"idle": (0.7, -0.69), "user": (0.25, 0.69)}.get(
                    sample.labels["mode"], (0.0, 0.0)
                )
                usual = self._growing(sample.value, rate)
                return lambda at: usual(at) + more * self._lasted(FaultKind.BUSY, at, node)
            case "node_timex_sync_status":  # the recording host has no time server
                return _constant(1)
            case "node_timex_maxerror_seconds":
                return _constant(0.1)
            case "node_memory_MemTotal_bytes":
                return _constant(512 * _GB)
            case "node_memory_MemAvailable_bytes":
                return lambda at: (8.0 if self.has(FaultKind.MEMORY, at, node) else 400.0) * _GB
            case "node_filesystem_size_bytes":
                return _constant(100 * _GB)
            case "node_filesystem_avail_bytes":
                return lambda at: (6.0 if self.has(FaultKind.DISK, at, node) else 60.0) * _GB
            case _:
                return _constant(sample.value)

    def _growing(self, first: float, rate: float) -> "Counter":
        return lambda at: first + rate * (at - self.start).total_seconds()

    def _lasted(self, kind: FaultKind, at: datetime, node: str = "") -> float:
        """For how many seconds the node, or the cluster, has had a fault of this kind up to then."""
        spans = [one for one in self.faults if one.kind is kind and (not one.nodes or node in one.nodes)]
        return sum(
            (max(timedelta(), min(at, one.ends) - one.begins) for one in spans), timedelta()
        ).total_seconds()

    def _dcgm(self, node: GpuNode) -> Iterator["RecordedSeries"]:
        usual = (self.dcgm_job or self.style.dcgm_job).format(node=node.name)
        job = node.named.get("job", usual)
        target = {"job": job, "instance": node.labels(1, job=job)["instance"]}
        yield "up", target, _constant(1)
        for gpu in range(2):
            labels = node.labels(gpu, job=job)

            def value(metric: str, gpu: int = gpu) -> "Value":
                return lambda at: self._of_gpu(metric, node, gpu, at)

            metrics = ["DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_XID_ERRORS"]
            metrics.append("DCGM_FI_PROF_GR_ENGINE_ACTIVE" if node.is_mig else "DCGM_FI_DEV_GPU_UTIL")
            for metric in metrics:
                yield dict(self.metrics).get(metric, metric), labels, value(metric)
            if node.counts_xids and gpu == 0:
                count = {**labels, "xid": "79", "window_size_in_ms": "300000"}
                yield "DCGM_EXP_XID_ERRORS_COUNT", count, value("DCGM_EXP_XID_ERRORS_COUNT")

    def _of_gpu(self, metric: str, node: GpuNode, gpu: int, at: datetime) -> float | None:
        def has(kind: FaultKind) -> bool:
            return gpu == 0 and self.has(kind, at, node.name)

        if has(FaultKind.GONE):
            return None
        match metric:
            case "DCGM_FI_DEV_GPU_TEMP":
                return 95 if has(FaultKind.HOT) else 61
            case "DCGM_FI_DEV_XID_ERRORS":
                return 79 if has(FaultKind.XID) else 0
            case "DCGM_EXP_XID_ERRORS_COUNT":
                return 1 if has(FaultKind.XID) else None
            case "DCGM_FI_PROF_GR_ENGINE_ACTIVE":
                return 0 if has(FaultKind.IDLE) else 0.8
            case _:
                return 0 if has(FaultKind.IDLE) else 80

    def _state_of(self, node: GpuNode) -> Iterator["RecordedSeries"]:
        for sample in page("kube-state-metrics"):
            if sample.labels.get("node") == RECORDED_NODE:
                labels = {**sample.labels, "node": node.name}
                if labels.get("resource") == "nvidia_com_gpu":
                    labels["resource"] = re.sub(r"[^a-zA-Z0-9_]", "_", self.resource)
                found = scraped(labels, self._own_state, honours=self.style.honours)
                yield sample.metric, found, self._of_node(sample, node.name)

    def _of_node(self, sample: PageSample, node: str) -> "Value":
        if sample.labels.get("resource") != "nvidia_com_gpu":
            return _constant(sample.value)
        is_offer = sample.metric == "kube_node_status_allocatable"
        return lambda at: float(
            self.units * (self.offered(at, node) if is_offer else self.registered(at, node))
        )

    def registered(self, at: datetime, node: str) -> int:
        """Return how many GPUs are the node's capacity then."""
        return 1 if self.has(FaultKind.CAPACITY, at, node) else 2

    def offered(self, at: datetime, node: str) -> int:
        """Return how many of them are allocatable."""
        kinds = (FaultKind.CAPACITY, FaultKind.ALLOCATABLE, FaultKind.XID, FaultKind.UNHEALTHY)
        return 1 if any(self.has(kind, at, node) for kind in kinds) else 2

    def _dns(self) -> Iterator["RecordedSeries"]:
        yield "up", self.style.dns, _constant(1)
        for sample in page("coredns"):
            labels = scraped(sample.labels, self.style.dns)
            if sample.metric == "coredns_dns_responses_total" and sample.labels["rcode"] == "SERVFAIL":
                yield sample.metric, labels, self._failing
            elif sample.metric in ("coredns_dns_responses_total", "coredns_dns_requests_total"):
                yield sample.metric, labels, self._growing(sample.value, DNS_RATE)
            elif sample.metric.startswith("coredns_dns_request_duration"):
                share = 1.0 if sample.labels.get("le", "1") not in ("0.00025", "0.0005") else 0.9
                yield sample.metric, labels, self._growing(sample.value, share * DNS_RATE)
            else:
                yield sample.metric, labels, _constant(sample.value)

    def _failing(self, at: datetime) -> float:
        return 0.1 * DNS_RATE * self._lasted(FaultKind.SERVFAIL, at)


Value = Callable[[datetime], float | None]
Counter = Callable[[datetime], float]
RecordedSeries = tuple[str, Mapping[str, str], Value]


def _constant(value: float) -> Value:
    return lambda at: value
