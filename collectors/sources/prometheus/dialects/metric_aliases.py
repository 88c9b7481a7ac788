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


def _amd(*names: str) -> tuple[MetricAlias, ...]:
    """Return metrics of AMD's device-metrics-exporter: its configuration may put `amd_` before all of them."""
    return tuple(MetricAlias(name=f"{prefix}{name}") for name in names for prefix in ("", "amd_"))


# Exporter 1.x, the next names of DCGM itself, and exporters that ask nvidia-smi or NVML instead, as telegraf does. Then
# those of other makes, after the lists of their projects: device-metrics-exporter (ROCm/device-metrics-exporter,
# docs/configuration/metricslist.md; amd-smi's values under the same names), npu-exporter (Ascend, "Prometheus Metrics
# API" of MindCluster) and gpu-manager (tkestack/gpu-manager, docs/faq.md).
_RENAMED: Mapping[str, tuple[MetricAlias, ...]] = {
    "DCGM_FI_DEV_GPU_TEMP": (
        MetricAlias(name="dcgm_gpu_temp"),
        MetricAlias(name="nvidia_smi_temperature_gpu"),
        MetricAlias(name="nvidia_gpu_temperature_celsius"),
        MetricAlias(name="dcgm_temperature"),  # Datadog's
        *_amd("gpu_junction_temperature", "gpu_edge_temperature"),
        MetricAlias(name="npu_chip_info_temperature"),
    ),
    "DCGM_FI_DEV_GPU_UTIL": (
        MetricAlias(name="dcgm_gpu_utilization"),
        MetricAlias(name="DCGM_FI_DEV_GPU_UTIL_RATIO", factor=100),
        MetricAlias(name="nvidia_smi_utilization_gpu_ratio", factor=100),
        MetricAlias(name="nvidia_gpu_duty_cycle"),
        MetricAlias(name="nvidia_smi_utilization_gpu"),
        *_amd("gpu_gfx_activity"),
        MetricAlias(name="npu_chip_info_utilization"),
        MetricAlias(name="container_gpu_utilization"),
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
        MetricAlias(name="nvidia_smi_memory_used"),
        *_amd("gpu_used_vram"),
        MetricAlias(name="npu_chip_info_hbm_used_memory"),
    ),
    "DCGM_FI_DEV_FB_FREE": (
        MetricAlias(name="dcgm_fb_free"),
        MetricAlias(name="nvidia_smi_memory_free_bytes", factor=1 / _MIB),
        MetricAlias(name="nvidia_smi_memory_free"),
        *_amd("gpu_free_vram"),
    ),
    "DCGM_FI_DEV_POWER_USAGE": (
        MetricAlias(name="dcgm_power_usage"),
        MetricAlias(name="nvidia_smi_power_draw_watts"),
        MetricAlias(name="nvidia_gpu_power_usage_milliwatts", factor=1e-3),
        MetricAlias(name="nvidia_smi_power_draw"),
        *_amd("gpu_package_power", "gpu_average_package_power", "gpu_power_usage"),
        MetricAlias(name="npu_chip_info_power"),
    ),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": (
        MetricAlias(name="nvidia_smi_ecc_errors_uncorrected_volatile_total"),
        *_amd("gpu_ecc_uncorrect_total"),
        MetricAlias(name="npu_chip_info_hbm_ecc_double_bit_error_cnt"),
    ),
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": (
        *_amd("gpu_ecc_correct_total"),
        MetricAlias(name="npu_chip_info_hbm_ecc_single_bit_error_cnt"),
    ),
    "DCGM_FI_DEV_SM_CLOCK": (
        MetricAlias(name="nvidia_smi_clocks_current_sm"),
        MetricAlias(name="npu_chip_info_aicore_current_freq"),
    ),
    "gpu_health": (MetricAlias(name="amd_gpu_health"), MetricAlias(name="npu_chip_info_health_status")),
    "gpu_violation_socket_thermal_residency_percentage": (
        MetricAlias(name="amd_gpu_violation_socket_thermal_residency_percentage"),
    ),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": (MetricAlias(name="DCGM_FI_DEV_ROW_REMAP_FAILED"),),
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": (
        MetricAlias(name="DCGM_FI_DEV_CLOCKS_EVENT_REASONS"),
        MetricAlias(name="DCGM_FI_DEV_CLOCKS_EVENT_REASON"),
    ),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": (
        MetricAlias(name="dcgm_pcie_replay_counter"),
        MetricAlias(name="DCGM_FI_DEV_PCIE_REPLAY_TOTAL"),
        *_amd("pcie_replay_count"),
    ),
}
# OpenTelemetry's collector ends the names of counters with this.
_COUNTERS = tuple(name for name, line in counters().items() if line.split(",")[1].strip() == "counter")
DCGM_ALIASES: Mapping[str, tuple[MetricAlias, ...]] = {
    **_RENAMED,
    **{name: (*_RENAMED.get(name, ()), MetricAlias(name=f"{name}_total")) for name in _COUNTERS},
}
