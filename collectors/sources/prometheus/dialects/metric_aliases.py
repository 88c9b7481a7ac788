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


# exporter 1.x, the next names of DCGM itself, and exporters that ask nvidia-smi or NVML instead
_RENAMED: Mapping[str, tuple[MetricAlias, ...]] = {
    "DCGM_FI_DEV_GPU_TEMP": (
        MetricAlias(name="dcgm_gpu_temp"),
        MetricAlias(name="nvidia_smi_temperature_gpu"),
        MetricAlias(name="nvidia_gpu_temperature_celsius"),
    ),
    "DCGM_FI_DEV_GPU_UTIL": (
        MetricAlias(name="dcgm_gpu_utilization"),
        MetricAlias(name="DCGM_FI_DEV_GPU_UTIL_RATIO", factor=100),
        MetricAlias(name="nvidia_smi_utilization_gpu_ratio", factor=100),
        MetricAlias(name="nvidia_gpu_duty_cycle"),
    ),
    "DCGM_FI_DEV_XID_ERRORS": (
        MetricAlias(name="dcgm_xid_errors"),
        MetricAlias(name="DCGM_FI_DEV_XID_ERROR"),
    ),
    "DCGM_FI_DEV_THERMAL_VIOLATION": (MetricAlias(name="dcgm_thermal_violation"),),
    "DCGM_FI_DEV_FB_USED": (
        MetricAlias(name="dcgm_fb_used"),
        MetricAlias(name="nvidia_smi_memory_used_bytes", factor=1 / _MIB),
        MetricAlias(name="nvidia_gpu_memory_used_bytes", factor=1 / _MIB),
    ),
    "DCGM_FI_DEV_FB_FREE": (
        MetricAlias(name="dcgm_fb_free"),
        MetricAlias(name="nvidia_smi_memory_free_bytes", factor=1 / _MIB),
    ),
    "DCGM_FI_DEV_POWER_USAGE": (
        MetricAlias(name="dcgm_power_usage"),
        MetricAlias(name="nvidia_smi_power_draw_watts"),
        MetricAlias(name="nvidia_gpu_power_usage_milliwatts", factor=1e-3),
    ),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": (MetricAlias(name="nvidia_smi_ecc_errors_uncorrected_volatile_total"),),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": (MetricAlias(name="DCGM_FI_DEV_ROW_REMAP_FAILED"),),
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": (
        MetricAlias(name="DCGM_FI_DEV_CLOCKS_EVENT_REASONS"),
        MetricAlias(name="DCGM_FI_DEV_CLOCKS_EVENT_REASON"),
    ),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": (
        MetricAlias(name="dcgm_pcie_replay_counter"),
        MetricAlias(name="DCGM_FI_DEV_PCIE_REPLAY_TOTAL"),
    ),
}
# OpenTelemetry's collector ends the names of counters with this.
_COUNTERS = tuple(name for name, line in counters().items() if line.split(",")[1].strip() == "counter")
DCGM_ALIASES: Mapping[str, tuple[MetricAlias, ...]] = {
    **_RENAMED,
    **{name: (*_RENAMED.get(name, ()), MetricAlias(name=f"{name}_total")) for name in _COUNTERS},
}
