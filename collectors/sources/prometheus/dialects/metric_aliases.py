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


def _amd(*names: str) -> tuple[MetricAlias, ...]:
    """Return metrics of AMD's device-metrics-exporter: its configuration may put `amd_` before all of them."""
    return _named(*(f"{prefix}{name}" for name in names for prefix in ("", "amd_")))


# Exporter 1.x, the next names of DCGM itself, and exporters that ask nvidia-smi or NVML instead, as telegraf does. Then
# those of other makes, after the lists of their projects: device-metrics-exporter (ROCm/device-metrics-exporter,
# docs/configuration/metricslist.md; amd-smi's values under the same names), npu-exporter (Ascend, "Prometheus Metrics
# API" of MindCluster) and gpu-manager (tkestack/gpu-manager, docs/faq.md).
_RENAMED: Mapping[str, tuple[MetricAlias, ...]] = {
    "DCGM_FI_DEV_GPU_TEMP": (
        *_named("dcgm_gpu_temp", "nvidia_smi_temperature_gpu", "nvidia_gpu_temperature_celsius"),
        *_named("dcgm_temperature"),  # Datadog's
        *_amd("gpu_junction_temperature", "gpu_edge_temperature"),
        *_named("npu_chip_info_temperature"),
    ),
    "DCGM_FI_DEV_GPU_UTIL": (
        *_named("dcgm_gpu_utilization"),
        *_named("DCGM_FI_DEV_GPU_UTIL_RATIO", "nvidia_smi_utilization_gpu_ratio", factor=100),
        *_named("nvidia_gpu_duty_cycle", "nvidia_smi_utilization_gpu"),
        *_amd("gpu_gfx_activity"),
        *_named("npu_chip_info_utilization", "container_gpu_utilization"),
    ),
    "DCGM_FI_DEV_XID_ERRORS": _named("dcgm_xid_errors", "DCGM_FI_DEV_XID_ERROR"),
    "DCGM_FI_DEV_THERMAL_VIOLATION": _named("dcgm_thermal_violation"),
    "DCGM_FI_DEV_FB_USED": (
        *_named("dcgm_fb_used"),
        *_named("nvidia_smi_memory_used_bytes", "nvidia_gpu_memory_used_bytes", factor=1 / _MIB),
        *_named("nvidia_smi_memory_used"),
        *_amd("gpu_used_vram"),
        *_named("npu_chip_info_hbm_used_memory"),
    ),
    "DCGM_FI_DEV_FB_FREE": (
        *_named("dcgm_fb_free"),
        *_named("nvidia_smi_memory_free_bytes", factor=1 / _MIB),
        *_named("nvidia_smi_memory_free"),
        *_amd("gpu_free_vram"),
    ),
    "DCGM_FI_DEV_POWER_USAGE": (
        *_named("dcgm_power_usage", "nvidia_smi_power_draw_watts"),
        *_named("nvidia_gpu_power_usage_milliwatts", factor=1e-3),
        *_named("nvidia_smi_power_draw"),
        *_amd("gpu_package_power", "gpu_average_package_power", "gpu_power_usage"),
        *_named("npu_chip_info_power"),
    ),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": (
        *_named("nvidia_smi_ecc_errors_uncorrected_volatile_total"),
        *_amd("gpu_ecc_uncorrect_total"),
        *_named("npu_chip_info_hbm_ecc_double_bit_error_cnt"),
    ),
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": (
        *_amd("gpu_ecc_correct_total"),
        *_named("npu_chip_info_hbm_ecc_single_bit_error_cnt"),
    ),
    "DCGM_FI_DEV_SM_CLOCK": _named("nvidia_smi_clocks_current_sm", "npu_chip_info_aicore_current_freq"),
    "gpu_health": _named("amd_gpu_health", "npu_chip_info_health_status"),
    "gpu_clock": _named("amd_gpu_clock"),
    "gpu_violation_socket_thermal_residency_percentage": _named(
        "amd_gpu_violation_socket_thermal_residency_percentage"
    ),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": _named("DCGM_FI_DEV_ROW_REMAP_FAILED"),
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": _named(
        "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "DCGM_FI_DEV_CLOCKS_EVENT_REASON"
    ),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": (
        *_named("dcgm_pcie_replay_counter", "DCGM_FI_DEV_PCIE_REPLAY_TOTAL"),
        *_amd("pcie_replay_count"),
    ),
}
# OpenTelemetry's collector ends the names of counters with this.
_COUNTERS = tuple(name for name, line in counters().items() if line.split(",")[1].strip() == "counter")
DCGM_ALIASES: Mapping[str, tuple[MetricAlias, ...]] = {
    **_RENAMED,
    **{name: (*_RENAMED.get(name, ()), MetricAlias(name=f"{name}_total")) for name in _COUNTERS},
}
