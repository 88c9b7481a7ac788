"""Other names of metrics, as data."""

from collections.abc import Mapping
from dataclasses import dataclass

from collectors.sources.prometheus.dcgm_counters import counters

_MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricAlias:
    """Another name of a metric; its values times `factor` are those of the packs' one."""

    name: str
    factor: float = 1


def _named(*names: str, factor: float = 1) -> tuple[MetricAlias, ...]:
    return tuple(MetricAlias(name=name, factor=factor) for name in names)


# exporter 1.x, the next names of DCGM itself, and exporters that ask nvidia-smi or NVML instead
_RENAMED: Mapping[str, tuple[MetricAlias, ...]] = {
    "DCGM_FI_DEV_GPU_TEMP": _named(
        "dcgm_gpu_temp", "nvidia_smi_temperature_gpu", "nvidia_gpu_temperature_celsius"
    ),
    "DCGM_FI_DEV_GPU_UTIL": (
        *_named("dcgm_gpu_utilization"),
        *_named("DCGM_FI_DEV_GPU_UTIL_RATIO", "nvidia_smi_utilization_gpu_ratio", factor=100),
        *_named("nvidia_gpu_duty_cycle"),
    ),
    "DCGM_FI_DEV_XID_ERRORS": _named("dcgm_xid_errors", "DCGM_FI_DEV_XID_ERROR"),
    "DCGM_FI_DEV_THERMAL_VIOLATION": _named("dcgm_thermal_violation"),
    "DCGM_FI_DEV_FB_USED": (
        *_named("dcgm_fb_used"),
        *_named("nvidia_smi_memory_used_bytes", "nvidia_gpu_memory_used_bytes", factor=1 / _MIB),
    ),
    "DCGM_FI_DEV_FB_FREE": (
        *_named("dcgm_fb_free"),
        *_named("nvidia_smi_memory_free_bytes", factor=1 / _MIB),
    ),
    "DCGM_FI_DEV_POWER_USAGE": (
        *_named("dcgm_power_usage", "nvidia_smi_power_draw_watts"),
        *_named("nvidia_gpu_power_usage_milliwatts", factor=1e-3),
    ),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": _named("nvidia_smi_ecc_errors_uncorrected_volatile_total"),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": _named("DCGM_FI_DEV_ROW_REMAP_FAILED"),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": _named("dcgm_pcie_replay_counter", "DCGM_FI_DEV_PCIE_REPLAY_TOTAL"),
}
# OpenTelemetry's collector ends the names of counters with this.
_COUNTERS = tuple(name for name, line in counters().items() if line.split(",")[1].strip() == "counter")
DCGM_ALIASES: Mapping[str, tuple[MetricAlias, ...]] = {
    **_RENAMED,
    **{name: (*_RENAMED.get(name, ()), MetricAlias(name=f"{name}_total")) for name in _COUNTERS},
}
