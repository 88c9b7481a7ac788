"""Traces of GPU metrics that mislead: corrupt samples, one XID on a whole training, exporters that say nothing.

Nobody publishes such recordings with what was really broken, so these are written after documented facts: DCGM's blank
values (`dcgm_structs.h`), what dcgm-exporter does without its host engine, and NVIDIA's catalogue of XIDs. Each trace
says which nodes are really broken.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from benchmarks.quality.promtool_series import SeriesSample

EVERY = timedelta(seconds=30)
NODES = ("gpu-a01", "gpu-a02", "gpu-a03", "gpu-a04")
GPUS = 4  # of each node
RANKS = NODES[:3]  # the nodes of one training, vision/detr
HOLDERS = {node: f"detr-worker-{rank}" for rank, node in enumerate(RANKS)}
STARTS = 22  # minutes: whatever happens begins then

# DCGM_INT32_BLANK … NOT_PERMISSIONED, the same for int64 and fp64, and all ones as read without a sign.
BLANKS = (
    *(0x7FFFFFF0 + kind for kind in range(4)),
    *(float(0x7FFFFFFFFFFFFFF0 + kind) for kind in range(4)),
    *(140737488355328.0 + kind for kind in range(4)),
    0xFFFFFFFF,
    float("nan"),
)

TEMP, POWER, UTIL = "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_GPU_UTIL"
XID, XIDS = "DCGM_FI_DEV_XID_ERRORS", "DCGM_EXP_XID_ERRORS_COUNT"
DBE, REMAP_FAILED = "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "DCGM_FI_DEV_ROW_REMAP_FAILURE"
HEALTH, EVENTS = "DCGM_EXP_GPU_HEALTH_STATUS", "DCGM_EXP_CLOCK_EVENTS_COUNT"
CAPACITY, ALLOCATABLE = "kube_node_status_capacity", "kube_node_status_allocatable"
UP = "up"

# What reads 0 as long as a GPU is well.
_STILL = (
    XID,
    DBE,
    REMAP_FAILED,
    "DCGM_FI_DEV_ROW_REMAP_PENDING",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_NONE",
    "DCGM_FI_DEV_RETIRED_SBE",
    "DCGM_FI_DEV_RETIRED_DBE",
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION",
    HEALTH,
    EVENTS,
)
# What a busy, sane GPU reads: the first value, what each step adds, and by how much it swings.
_SANE: Mapping[str, tuple[float, float, float]] = {
    TEMP: (58, 0, 5),
    POWER: (410, 0, 35),
    UTIL: (97, 0, 3),
    "DCGM_FI_DEV_SM_CLOCK": (1700, 0, 20),
    "DCGM_FI_DEV_FB_USED": (70000, 0, 10),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": (3, 0, 0),
    "DCGM_FI_DEV_THERMAL_VIOLATION": (0, 1000, 0),
    "DCGM_FI_DEV_POWER_VIOLATION": (0, 200_000_000, 0),
    **dict.fromkeys(_STILL, (0, 0, 0)),
}
_WITH_LABELS = {HEALTH: {"health_watch": "ALL"}, EVENTS: {"clock_event": "hw_thermal"}}
_COUNTED = frozenset({XIDS, EVENTS, HEALTH})  # what only exporters with DCGM_EXP_* have


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """From one minute to another, these metrics (all if empty) of these GPUs read `value`; None stands for no sample.

    With `xid` it is a further series of `DCGM_EXP_XID_ERRORS_COUNT`. `repeats`: they read what they read at `start`.
    """

    value: float | None = None
    metrics: tuple[str, ...] = ()
    nodes: tuple[str, ...] = NODES
    gpus: tuple[int, ...] = tuple(range(GPUS))
    start: float = STARTS
    end: float = 1000
    xid: str = ""
    repeats: bool = False

    def is_of(self, metric: str, node: str, gpu: int | None, minute: float) -> bool:
        return (
            not self.xid
            and (not self.metrics or metric in self.metrics)
            and node in self.nodes
            and (gpu is None or gpu in self.gpus)
            and self.start <= minute < self.end
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelLine:
    """A line of a node's kernel, at a minute of the trace."""

    text: str
    node: str
    at: float = STARTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A trace: what differs from sane readings, and which nodes are really broken."""

    name: str
    overrides: tuple[Override, ...] = ()
    lines: tuple[KernelLine, ...] = ()
    broken: frozenset[str] = frozenset()
    lasts: int = 34  # minutes
    counts: bool = True  # the exporter has DCGM_EXP_* metrics

    def samples(self, start: datetime) -> Iterator[SeriesSample]:
        """Yield every sample of the trace."""
        for step in range(int(timedelta(minutes=self.lasts) / EVERY) + 1):
            at, minute = start + step * EVERY, step * (EVERY / timedelta(minutes=1))
            for node in NODES:
                yield from self._of_node(node, step, minute, at)

    def _of_node(self, node: str, step: int, minute: float, at: datetime) -> Iterator[SeriesSample]:
        target = {"job": "dcgm-exporter", "instance": f"{node}:9400"}
        resource = {"node": node, "resource": "nvidia_com_gpu", "unit": "integer"}
        yield from self._one(UP, target, 1, node, None, minute, at)
        yield from self._one(CAPACITY, resource, GPUS, node, None, minute, at)
        yield from self._one(ALLOCATABLE, resource, GPUS, node, None, minute, at)
        for gpu in range(GPUS):
            labels = {**target, **_labels(node, gpu)}
            for metric, (first, more, swing) in _SANE.items():
                if metric in _COUNTED and not self.counts:
                    continue
                frozen = self._frozen_at(metric, node, gpu, minute)
                place = step if frozen is None else int(frozen * timedelta(minutes=1) / EVERY)
                value = first + more * place + swing * _wave(place, node, gpu)
                more_labels = _WITH_LABELS.get(metric, {})
                yield from self._one(metric, {**labels, **more_labels}, value, node, gpu, minute, at)
            if self.counts:
                yield from self._xids(labels, node, gpu, minute, at)

    def _xids(
        self, labels: Mapping[str, str], node: str, gpu: int, minute: float, at: datetime
    ) -> Iterator[SeriesSample]:
        """A GPU without an XID in the window has a series without that label."""
        counted = [
            one
            for one in self.overrides
            if one.xid and node in one.nodes and gpu in one.gpus and one.start <= minute < one.end
        ]
        if not counted:
            yield from self._one(XIDS, labels, 0, node, gpu, minute, at)
        for one in counted:
            if one.value is not None:
                yield _sample(XIDS, {**labels, "xid": one.xid, "window_size_in_ms": "300000"}, one.value, at)

    def _one(
        self,
        metric: str,
        labels: Mapping[str, str],
        value: float,
        node: str,
        gpu: int | None,
        minute: float,
        at: datetime,
    ) -> Iterator[SeriesSample]:
        last = [one for one in self.overrides if one.is_of(metric, node, gpu, minute) and not one.repeats]
        is_node = gpu is None  # only an override that names it changes a series of the node
        last = [one for one in last if one.metrics] if is_node else last
        found = last[-1].value if last else value
        if found is not None:
            yield _sample(metric, labels, found, at)

    def _frozen_at(self, metric: str, node: str, gpu: int, minute: float) -> float | None:
        stuck = [one.start for one in self.overrides if one.repeats and one.is_of(metric, node, gpu, minute)]
        return min(stuck, default=None)


def _labels(node: str, gpu: int) -> dict[str, str]:
    found = {
        "Hostname": node,
        "gpu": str(gpu),
        "UUID": f"GPU-{node}-{gpu}",
        "device": f"nvidia{gpu}",
        "modelName": "NVIDIA H100 80GB HBM3",
    }
    if node in HOLDERS:
        found |= {"exported_namespace": "vision", "exported_pod": HOLDERS[node], "exported_container": "main"}
    return found


def _wave(place: int, node: str, gpu: int) -> float:
    """Return a number from -1 to 1 that changes with each step and differs between GPUs."""
    return ((place * 37 + gpu * 11 + sum(map(ord, node)) * 7) % 41) / 20 - 1


def _sample(metric: str, labels: Mapping[str, str], value: float, at: datetime) -> SeriesSample:
    said = ",".join(f'{name}="{labels[name]}"' for name in sorted(labels))
    return SeriesSample(metric=metric, series=f"{metric}{{{said}}}", at=at, value=value)
