"""Exporters of other makes of GPU: their pages in time, written as their projects document them.

No such GPU was there to record. The metrics and labels are those of ROCm/device-metrics-exporter
(docs/configuration/metricslist.md and its examples), of Ascend's npu-exporter ("Prometheus Metrics API" of MindCluster)
and of tkestack/gpu-manager (docs/faq.md), which knows only what containers use.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from tests.support.gpu_dialects import GpuNode
from tests.support.recorded_cluster import FaultKind, RecordedCluster, RecordedSeries


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeMetric:
    """A metric of a GPU: its value when well, and in faults. `moves`: it is never the same twice in a row.

    `grows`: by how much a minute in faults. `only_faulty`: without a fault it has no series.
    """

    name: str
    well: float
    faulty: Mapping[FaultKind, float] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    moves: bool = False
    grows: Mapping[FaultKind, float] = field(default_factory=dict)
    only_faulty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMake:
    """One exporter: its target, its labels with `{node}`, `{address}`, `{number}` and `{gpu}`, and its metrics."""

    name: str
    resource: str
    units: int = 1
    job: str
    target: Mapping[str, str]
    labels: Mapping[str, str]
    pod: tuple[str, str, str] = ("namespace", "pod", "container")  # the labels of the holder
    metrics: tuple[MakeMetric, ...]
    only_held: bool = False  # it has no series of a GPU that no pod uses
    faults: tuple[FaultKind, ...] = ()  # that can be seen, each on a node of its own

    @property
    def nodes(self) -> tuple[GpuNode, ...]:
        """A node for each fault, and one that is well."""
        names = (*(_word(kind) for kind in self.faults), "well")
        return tuple(
            GpuNode(name=f"{self.name}-{name}", number=number, named={})
            for number, name in enumerate(names, start=51)
        )

    @property
    def faulty(self) -> Mapping[FaultKind, str]:
        """The node of each fault."""
        return {kind: f"{self.name}-{_word(kind)}" for kind in self.faults}


def _word(kind: FaultKind) -> str:
    return kind.name.lower().replace("_", "-")


def steady(**metrics: float) -> tuple[MakeMetric, ...]:
    """Return metrics that no fault changes, with their values."""
    return tuple(MakeMetric(name=name, well=well) for name, well in metrics.items())


_OF_DEVICES = (
    *(FaultKind.HOT, FaultKind.UNHEALTHY, FaultKind.ECC, FaultKind.GONE, FaultKind.IDLE),
    *(FaultKind.CLOCK, FaultKind.NO_EXPORTER, FaultKind.CAPACITY),
)
_IDLE = {FaultKind.IDLE: 0.0}
AMD = GpuMake(
    name="amd",
    resource="amd.com/gpu",
    job="amd-metrics-exporter",
    target={"instance": "{address}:5000"},
    labels={
        "gpu_id": "{gpu}",
        "gpu_uuid": "72ff740f-0000-1000-{number}-{gpu}",
        "serial_number": "69225100{number}{gpu}",
        "hostname": "{node}",
        "card_model": "AMD Instinct MI300X",
        "card_vendor": "Advanced Micro Devices Inc.",
        "gpu_partition_id": "0",
        "gpu_compute_partition_type": "spx",
    },
    metrics=(
        MakeMetric(name="gpu_junction_temperature", well=62, faulty={FaultKind.HOT: 99}),
        MakeMetric(name="gpu_health", well=1, faulty={FaultKind.UNHEALTHY: 0}),
        MakeMetric(name="gpu_ecc_uncorrect_total", well=0, faulty={FaultKind.ECC: 3}),
        MakeMetric(name="gpu_gfx_activity", well=90, faulty=_IDLE),
        MakeMetric(name="gpu_package_power", well=600, moves=True),
        *steady(gpu_used_vram=150_000, gpu_free_vram=46_000),
        MakeMetric(
            name="gpu_clock",
            well=2100,
            faulty={FaultKind.CLOCK: 132},
            labels={"clock_type": "GPU_CLOCK_TYPE_SYSTEM", "clock_index": "0"},
        ),
        MakeMetric(
            name="gpu_clock",
            well=900,
            labels={"clock_type": "GPU_CLOCK_TYPE_MEMORY", "clock_index": "8"},
        ),
        MakeMetric(
            name="gpu_violation_socket_thermal_residency_percentage",
            well=0,
            faulty={FaultKind.THROTTLED: 40},
        ),
    ),
    faults=(*_OF_DEVICES, FaultKind.THROTTLED),
)
ASCEND = GpuMake(
    name="ascend",
    resource="huawei.com/Ascend910",
    job="npu-exporter",
    # Its `namespace` is displaced by that of the target: nobody honours its labels by default.
    target={
        "instance": "{address}:8082",
        "namespace": "npu-exporter",
        "pod": "npu-exporter-{number}",
        "container": "npu-exporter",
    },
    labels={
        "id": "{gpu}",
        "vdie_id": "185011D4-21B0{number}-{gpu}",
        "model_name": "910B-Ascend-V1",
        "pcie_bus_info": "0000:6{gpu}:00.0",
    },
    pod=("exported_namespace", "pod_name", "container_name"),
    metrics=(
        MakeMetric(name="npu_chip_info_temperature", well=50, faulty={FaultKind.HOT: 91}),
        MakeMetric(name="npu_chip_info_health_status", well=1, faulty={FaultKind.UNHEALTHY: 0}),
        MakeMetric(name="npu_chip_info_hbm_ecc_double_bit_error_cnt", well=0, faulty={FaultKind.ECC: 1}),
        MakeMetric(name="npu_chip_info_utilization", well=80, faulty=_IDLE),
        MakeMetric(name="npu_chip_info_power", well=310, moves=True),
        *steady(npu_chip_info_hbm_used_memory=40_000),
        MakeMetric(name="npu_chip_info_aicore_current_freq", well=1650, faulty={FaultKind.CLOCK: 345}),
    ),
    faults=_OF_DEVICES,
)
VCUDA = GpuMake(
    name="vcuda",
    resource="tencent.com/vcuda-core",
    units=100,
    job="kubernetes-pods",  # by its annotations, as its project has them
    target={"instance": "{address}:5678"},
    labels={"node": "{node}", "gpu": "gpu{gpu}"},
    pod=("namespace", "pod_name", "container_name"),
    metrics=(
        MakeMetric(name="container_gpu_utilization", well=80, faulty=_IDLE),
        MakeMetric(name="container_gpu_utilization", well=80, faulty=_IDLE, labels={"gpu": "total"}),
    ),
    only_held=True,
    # It measures neither heat nor errors nor clocks.
    faults=(FaultKind.IDLE, FaultKind.NO_EXPORTER, FaultKind.CAPACITY),
)
MAKES = (AMD, ASCEND, VCUDA)


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeCluster(RecordedCluster):
    """A recorded cluster whose GPUs are of another make."""

    make: GpuMake

    def _dcgm(self, node: GpuNode) -> Iterator[RecordedSeries]:
        def is_down(at: datetime) -> bool:
            return self.has(FaultKind.NO_EXPORTER, at, node.name)

        target = {"job": self.make.job, **self._filled(self.make.target, node)}
        yield "up", target, lambda at: 0.0 if is_down(at) else 1.0
        for gpu in (0,) if self.make.only_held else (0, 1):
            labels = {**target, **self._filled(self.make.labels, node, gpu)}
            if gpu == 0:
                labels |= {
                    name: value for name, value in zip(self.make.pod, node.holder, strict=True) if name
                }
            for metric in self.make.metrics:
                of_metric = self._filled(metric.labels, node, gpu)
                yield metric.name, {**labels, **of_metric}, self._measured(metric, node, gpu)

    def _measured(self, metric: MakeMetric, node: GpuNode, gpu: int) -> Callable[[datetime], float | None]:
        def has(at: datetime, kind: FaultKind) -> bool:
            return self.has(kind, at, node.name)

        def value(at: datetime) -> float | None:
            if has(at, FaultKind.NO_EXPORTER) or (gpu == 0 and has(at, FaultKind.GONE)):
                return None
            faults = filter(partial(has, at), metric.faulty) if gpu == 0 else ()
            usual = metric.well + (at.minute % 7 + at.second / 60 if metric.moves else 0)
            for kind, a_minute in metric.grows.items() if gpu == 0 else ():
                usual += a_minute * self._lasted(kind, at, node.name) / 60
            return next((metric.faulty[kind] for kind in faults), None if metric.only_faulty else usual)

        return value

    @staticmethod
    def _filled(labels: Mapping[str, str], node: GpuNode, gpu: int = 0) -> Mapping[str, str]:
        return {
            name: text.format(node=node.name, address=node.exporter_address, number=node.number, gpu=gpu)
            for name, text in labels.items()
        }
