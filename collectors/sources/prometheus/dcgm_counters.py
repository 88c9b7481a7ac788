"""The counters file of dcgm-exporter: the line that makes it export each metric that the shipped rules need.

The exporter's own file, `default-counters.csv`, has many of them commented out. A line is the field, the type of the
Prometheus metric, and a help text that anybody may choose.
"""

from collections.abc import Iterable, Mapping

# The type of each field: https://github.com/NVIDIA/dcgm-exporter, etc/default-counters.csv. Those of DCGM_EXP_ are
# computed by the exporter itself, from version 3.2 or 4.0 on.
COUNTERS: Mapping[str, tuple[str, str]] = {
    "DCGM_EXP_CLOCK_EVENTS_COUNT": ("gauge", "Clock events within the time window"),
    "DCGM_EXP_GPU_HEALTH_STATUS": ("gauge", "Health: 0 pass, 10 warn, 20 fail"),
    "DCGM_EXP_XID_ERRORS_COUNT": ("gauge", "XID errors within the time window"),
    "DCGM_FI_DEV_BANKS_REMAP_ROWS_AVAIL_NONE": ("gauge", "Memory banks without spare rows"),
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": ("counter", "Double-bit ECC errors since the driver was loaded"),
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": ("counter", "Single-bit ECC errors since the driver was loaded"),
    "DCGM_FI_DEV_FB_FREE": ("gauge", "Free GPU memory in MiB"),
    "DCGM_FI_DEV_FB_USED": ("gauge", "Used GPU memory in MiB"),
    "DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION": ("gauge", "What the driver asks for, 0 for nothing"),
    "DCGM_FI_DEV_GPU_TEMP": ("gauge", "GPU temperature in degrees Celsius"),
    "DCGM_FI_DEV_GPU_UTIL": ("gauge", "GPU utilization in percent"),
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL": ("counter", "NVLink flow-control CRC errors"),
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL": ("counter", "NVLink recovery errors"),
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL": ("counter", "NVLink retries"),
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": ("counter", "PCIe retries"),
    "DCGM_FI_DEV_POWER_USAGE": ("gauge", "Power draw in W"),
    "DCGM_FI_DEV_POWER_VIOLATION": ("counter", "Time throttled for power"),
    "DCGM_FI_DEV_RETIRED_DBE": ("counter", "Pages retired for double-bit errors"),
    "DCGM_FI_DEV_RETIRED_SBE": ("counter", "Pages retired for single-bit errors"),
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": ("gauge", "Whether the remapping of rows has failed"),
    "DCGM_FI_DEV_ROW_REMAP_PENDING": ("gauge", "Whether a remapped row waits for a reset"),
    "DCGM_FI_DEV_THERMAL_VIOLATION": ("counter", "Time throttled for temperature"),
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": ("counter", "Rows remapped for uncorrectable errors"),
    "DCGM_FI_DEV_XID_ERRORS": ("gauge", "The last XID error"),
    "DCGM_FI_DRIVER_VERSION": ("label", "Driver version"),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": ("gauge", "Share of time that the engine is active"),
}


def counter_lines(metrics: Iterable[str]) -> tuple[str, ...]:
    """Return the lines of a counters file for those of the metrics that it has, sorted."""
    return tuple(", ".join((name, *COUNTERS[name])) for name in sorted(set(metrics)) if name in COUNTERS)
