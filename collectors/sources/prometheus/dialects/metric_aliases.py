"""Other names of the packs' GPU metrics: what DCGM and its exporter called them, and what other exporters call them."""

from collections.abc import Mapping

from collectors.sources.prometheus.dcgm_counters import counters
from collectors.sources.prometheus.gpu_exporters import GPU_EXPORTERS, MetricAlias


def _named(*names: str, factor: float = 1) -> tuple[MetricAlias, ...]:
    return tuple(MetricAlias(name=name, factor=factor) for name in names)


# Exporter 1.x, and the next names of DCGM itself.
_RENAMED: Mapping[str, tuple[MetricAlias, ...]] = {
    "DCGM_FI_DEV_GPU_TEMP": _named("dcgm_gpu_temp"),
    "DCGM_FI_DEV_GPU_UTIL": (
        *_named("dcgm_gpu_utilization"),
        *_named("DCGM_FI_DEV_GPU_UTIL_RATIO", factor=100),
    ),
    "DCGM_FI_DEV_XID_ERRORS": _named("dcgm_xid_errors", "DCGM_FI_DEV_XID_ERROR"),
    "DCGM_FI_DEV_THERMAL_VIOLATION": _named("dcgm_thermal_violation"),
    "DCGM_FI_DEV_FB_USED": _named("dcgm_fb_used"),
    "DCGM_FI_DEV_FB_FREE": _named("dcgm_fb_free"),
    "DCGM_FI_DEV_POWER_USAGE": _named("dcgm_power_usage"),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": _named("DCGM_FI_DEV_ROW_REMAP_FAILED"),
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": _named(
        "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASON"
    ),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": _named("dcgm_pcie_replay_counter", "DCGM_FI_DEV_PCIE_REPLAY_TOTAL"),
}
# OpenTelemetry's collector ends the names of counters with this.
_COUNTERS = {
    name: _named(f"{name}_total")
    for name, line in counters().items()
    if line.split(",")[1].strip() == "counter"
}
_TABLES = (_RENAMED, *(one.aliases for one in GPU_EXPORTERS), _COUNTERS)
DCGM_ALIASES: Mapping[str, tuple[MetricAlias, ...]] = {
    metric: tuple(alias for table in _TABLES for alias in table.get(metric, ()))
    for metric in dict.fromkeys(name for table in _TABLES for name in table)
}
