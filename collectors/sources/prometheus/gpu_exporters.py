"""The exporters of GPUs beside dcgm-exporter, as data: what each calls the metrics that the packs query.

One entry makes a make of GPU known to every rule, check and command: its metrics are other names of the packs'
ones, and the doctor knows how to get them. The labels that name its nodes, GPUs and pods are in `dialects/families.py`.

After the lists of their projects: ROCm/device-metrics-exporter (docs/configuration/metricslist.md),
amd/amd_smi_exporter, Ascend's npu-exporter ("Prometheus Metrics API" of MindCluster), tkestack/gpu-manager
(docs/faq.md), Cambricon/mlu-exporter (examples/metrics.yaml), Hygon's dcu-exporter, intel/xpumanager
(rest/prometheus_exporter), telegraf's `nvidia_smi` and `amd_rocm_smi`, lablup/all-smi (API.md), nvidia_gpu_exporter,
nvidia_gpu_prometheus_exporter, and Datadog's check of DCGM.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from collectors.facts.sentences import sentence

_MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricAlias:
    """Another name of a metric; its values times `factor` are those of the packs' one.

    `where` are labels that its series must have: an exporter may give several readings under one name. One that has no
    series until something happens is asked for where its exporter gives any of the metrics `beside` it.
    """

    name: str
    factor: float = 1
    where: tuple[tuple[str, str], ...] = ()
    beside: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuExporter:
    """An exporter: by the packs' metric, what it calls it; the best first. `prefixes` may stand before all its names.

    `sporadic` are the packs' metrics whose series only come when something happens.
    `fix` is how to get it; without one it measures NVIDIA's GPUs, and dcgm-exporter is what the doctor recommends.
    """

    name: str
    fix: str = ""
    prefixes: tuple[str, ...] = ("",)
    signals: Mapping[str, tuple[MetricAlias, ...]]
    sporadic: frozenset[str] = frozenset()

    @property
    def aliases(self) -> Mapping[str, tuple[MetricAlias, ...]]:
        """The other names of each metric, with each prefix."""
        return {
            metric: tuple(
                replace(
                    one,
                    name=prefix + one.name,
                    beside=self._steady(prefix) if metric in self.sporadic else frozenset(),
                )
                for one in some
                for prefix in self.prefixes
                if prefix + one.name != metric
            )
            for metric, some in self.signals.items()
        }

    def _steady(self, prefix: str) -> frozenset[str]:
        steady = (some for metric, some in self.signals.items() if metric not in self.sporadic)
        return frozenset(prefix + one.name for some in steady for one in some)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its metrics, and those that the packs alone have for them."""
        own = (name for name in self.signals if not name.startswith("DCGM_"))
        others = (
            prefix + one.name for some in self.signals.values() for one in some for prefix in self.prefixes
        )
        return tuple(dict.fromkeys((*others, *own)))


def _named(*names: str, factor: float = 1, where: Mapping[str, str] | None = None) -> tuple[MetricAlias, ...]:
    labels = tuple((where or {}).items())
    return tuple(MetricAlias(name=name, factor=factor, where=labels) for name in names)


_AMD_HEAT = ("socket_thermal", "hbm_thermal", "vr_thermal", "processor_hot")

GPU_EXPORTERS = (
    GpuExporter(
        name="nvidia_gpu_exporter, telegraf",
        signals={
            "DCGM_FI_DEV_GPU_TEMP": _named("nvidia_smi_temperature_gpu"),
            "DCGM_FI_DEV_MEMORY_TEMP": _named("nvidia_smi_temperature_memory"),
            "DCGM_FI_DEV_GPU_UTIL": (
                *_named("nvidia_smi_utilization_gpu_ratio", factor=100),
                *_named("nvidia_smi_utilization_gpu"),
            ),
            "DCGM_FI_DEV_FB_USED": (
                *_named("nvidia_smi_memory_used_bytes", factor=1 / _MIB),
                *_named("nvidia_smi_memory_used"),
            ),
            "DCGM_FI_DEV_FB_FREE": (
                *_named("nvidia_smi_memory_free_bytes", factor=1 / _MIB),
                *_named("nvidia_smi_memory_free"),
            ),
            "DCGM_FI_DEV_POWER_USAGE": _named("nvidia_smi_power_draw_watts", "nvidia_smi_power_draw"),
            "DCGM_FI_DEV_SM_CLOCK": _named("nvidia_smi_clocks_current_sm"),
            "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": _named("nvidia_smi_ecc_errors_uncorrected_volatile_total"),
            "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": _named("nvidia_smi_ecc_errors_corrected_volatile_total"),
            "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": _named("nvidia_smi_remapped_rows_uncorrectable"),
            "DCGM_FI_DEV_RETIRED_SBE": _named("nvidia_smi_retired_pages_multiple_single_bit"),
            "DCGM_FI_DEV_RETIRED_DBE": _named("nvidia_smi_retired_pages_double_bit"),
            "DCGM_FI_DEV_PCIE_LINK_GEN": _named("nvidia_smi_pcie_link_gen_current"),
            "DCGM_FI_DEV_PCIE_LINK_WIDTH": _named("nvidia_smi_pcie_link_width_current"),
        },
    ),
    GpuExporter(
        name="nvidia_gpu_prometheus_exporter",
        signals={
            "DCGM_FI_DEV_GPU_TEMP": _named("nvidia_gpu_temperature_celsius"),
            "DCGM_FI_DEV_GPU_UTIL": _named("nvidia_gpu_duty_cycle"),
            "DCGM_FI_DEV_FB_USED": _named("nvidia_gpu_memory_used_bytes", factor=1 / _MIB),
            "DCGM_FI_DEV_POWER_USAGE": _named("nvidia_gpu_power_usage_milliwatts", factor=1e-3),
        },
    ),
    GpuExporter(
        name="all-smi",
        signals={
            "DCGM_FI_DEV_GPU_TEMP": _named("all_smi_gpu_temperature_celsius"),
            "DCGM_FI_DEV_GPU_UTIL": _named("all_smi_gpu_utilization"),
            "DCGM_FI_DEV_FB_USED": _named("all_smi_gpu_memory_used_bytes", factor=1 / _MIB),
            "DCGM_FI_DEV_POWER_USAGE": _named("all_smi_gpu_power_consumption_watts"),
            "DCGM_FI_DEV_SM_CLOCK": _named("all_smi_gpu_frequency_mhz"),
        },
    ),
    GpuExporter(
        name="Datadog's check of DCGM",
        signals={
            "DCGM_FI_DEV_GPU_TEMP": _named("dcgm_temperature"),
            "DCGM_FI_DEV_MEMORY_TEMP": _named("dcgm_memory_temperature"),
            "DCGM_FI_DEV_FB_USED": _named("dcgm_frame_buffer_used"),
            "DCGM_FI_DEV_FB_FREE": _named("dcgm_frame_buffer_free"),
            "DCGM_FI_DEV_ROW_REMAP_FAILURE": _named("dcgm_row_remap_failure"),
            "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": _named("dcgm_uncorrectable_remapped_rows"),
            "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": _named("dcgm_pcie_replay", "dcgm_pcie_replay_count"),
            "DCGM_FI_DEV_SM_CLOCK": _named("dcgm_sm_clock"),
        },
    ),
    GpuExporter(
        name=sentence("AMD's device-metrics-exporter"),
        fix=sentence("install AMD's device-metrics-exporter, and let Prometheus scrape it (port 5000)"),
        prefixes=("", "amd_"),
        signals={
            "DCGM_FI_DEV_GPU_TEMP": _named("gpu_junction_temperature", "gpu_edge_temperature"),
            "DCGM_FI_DEV_MEMORY_TEMP": _named("gpu_memory_temperature"),
            "DCGM_FI_DEV_GPU_UTIL": _named("gpu_gfx_activity"),
            "DCGM_FI_DEV_FB_USED": _named("gpu_used_vram"),
            "DCGM_FI_DEV_FB_FREE": _named("gpu_free_vram"),
            "DCGM_FI_DEV_POWER_USAGE": _named(
                "gpu_package_power", "gpu_average_package_power", "gpu_power_usage"
            ),
            "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": _named("gpu_ecc_uncorrect_total"),
            "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": _named("gpu_ecc_correct_total"),
            "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": _named("pcie_replay_count", "pcie_recovery_count"),
            **{
                f"gpu_violation_{part}_residency_percentage": _named(
                    f"gpu_violation_{part}_residency_percentage"
                )
                for part in _AMD_HEAT
            },
            "pcie_speed": _named("pcie_speed"),
            "gpu_clock": _named("gpu_clock"),
            "gpu_health": _named("gpu_health"),
            "gpu_error_code": _named("gpu_afid_errors"),
        },
        sporadic=frozenset({"gpu_error_code"}),
    ),
    GpuExporter(
        name=sentence("telegraf's `amd_rocm_smi`"),
        fix=sentence("install AMD's device-metrics-exporter, and let Prometheus scrape it (port 5000)"),
        signals={
            "DCGM_FI_DEV_GPU_TEMP": _named(
                "amd_rocm_smi_temperature_sensor_junction", "amd_rocm_smi_temperature_sensor_edge"
            ),
            "DCGM_FI_DEV_MEMORY_TEMP": _named("amd_rocm_smi_temperature_sensor_memory"),
            "DCGM_FI_DEV_GPU_UTIL": _named("amd_rocm_smi_utilization_gpu"),
            "DCGM_FI_DEV_FB_USED": _named("amd_rocm_smi_memory_used", factor=1 / _MIB),
            "DCGM_FI_DEV_FB_FREE": _named("amd_rocm_smi_memory_free", factor=1 / _MIB),
            "DCGM_FI_DEV_POWER_USAGE": _named("amd_rocm_smi_power_draw"),
            "DCGM_FI_DEV_SM_CLOCK": _named("amd_rocm_smi_clocks_current_sm"),
        },
    ),
    GpuExporter(
        name=sentence("AMD's amd_smi_exporter"),
        fix=sentence("install AMD's device-metrics-exporter, and let Prometheus scrape it (port 5000)"),
        signals={
            "DCGM_FI_DEV_GPU_TEMP": _named("amd_gpu_current_temperature", factor=1e-3),
            "DCGM_FI_DEV_GPU_UTIL": _named("amd_gpu_use_percent"),
            "DCGM_FI_DEV_POWER_USAGE": _named("amd_gpu_power", factor=1e-6),
            "DCGM_FI_DEV_SM_CLOCK": _named("amd_gpu_SCLK", factor=1e-6),
        },
    ),
    GpuExporter(
        name=sentence("Ascend's npu-exporter"),
        fix=sentence("install Ascend's npu-exporter, and let Prometheus scrape it (port 8082)"),
        signals={
            "DCGM_FI_DEV_GPU_TEMP": _named("npu_chip_info_temperature"),
            "DCGM_FI_DEV_MEMORY_TEMP": _named("npu_chip_info_hbm_temperature"),
            "DCGM_FI_DEV_GPU_UTIL": _named("npu_chip_info_utilization"),
            "DCGM_FI_DEV_FB_USED": _named("npu_chip_info_hbm_used_memory"),
            "DCGM_FI_DEV_POWER_USAGE": _named("npu_chip_info_power"),
            "DCGM_FI_DEV_SM_CLOCK": _named("npu_chip_info_aicore_current_freq"),
            "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": _named(
                "npu_chip_info_hbm_ecc_double_bit_error_cnt",
                "npu_chip_info_hbm_ecc_total_double_bit_error_cnt",
            ),
            "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": _named(
                "npu_chip_info_hbm_ecc_total_single_bit_error_cnt",  # the other one counts what is there now
                "npu_chip_info_hbm_ecc_single_bit_error_cnt",
            ),
            "DCGM_FI_DEV_RETIRED_SBE": _named("npu_chip_info_hbm_ecc_single_bit_isolated_pages_cnt"),
            "DCGM_FI_DEV_RETIRED_DBE": _named("npu_chip_info_hbm_ecc_double_bit_isolated_pages_cnt"),
            "gpu_health": _named("npu_chip_info_health_status"),
            "gpu_error_code": _named("npu_chip_info_error_code", "npu_chip_info_error_code_1"),
            "gpu_port_up": _named("npu_chip_info_link_status"),
            "gpu_port_reaches": _named("npu_chip_info_network_status"),
            "gpu_optics_present": _named("npu_chip_optical_state"),
            "gpu_port_bad_packets": _named("npu_chip_mac_rx_bad_pkt_num"),
            "gpu_port_link_ups": _named("npu_chip_link_up_num"),
            "gpu_optics_temperature": _named("npu_chip_optical_temp"),
            "gpu_port_error_packets": _named("npu_chip_roce_rx_err_pkt_num"),
        },
        sporadic=frozenset({"gpu_error_code"}),
    ),
    GpuExporter(
        name=sentence("Tencent's gpu-manager"),
        fix=sentence("let Prometheus scrape Tencent's gpu-manager (port 5678)"),
        signals={"DCGM_FI_DEV_GPU_UTIL": _named("container_gpu_utilization")},
    ),
    GpuExporter(
        name=sentence("Cambricon's mlu-exporter"),
        fix=sentence("install Cambricon's mlu-exporter, and let Prometheus scrape it (port 30108)"),
        signals={
            "DCGM_FI_DEV_GPU_TEMP": _named("mlu_temperature", "mlu_chip_temperature"),
            "DCGM_FI_DEV_MEMORY_TEMP": _named("mlu_memory_temperature"),
            "DCGM_FI_DEV_GPU_UTIL": _named("mlu_utilization"),
            "DCGM_FI_DEV_FB_USED": _named("mlu_memory_used", factor=1 / _MIB),
            "DCGM_FI_DEV_FB_FREE": _named("mlu_memory_free", factor=1 / _MIB),
            "DCGM_FI_DEV_POWER_USAGE": _named("mlu_power_usage"),
            "DCGM_FI_DEV_SM_CLOCK": _named("mlu_frequency"),
            "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": _named(
                "mlu_dram_ecc_dbe_count", "mlu_ecc_uncorrected_error_total"
            ),
            "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": _named(
                "mlu_dram_ecc_sbe_count", "mlu_ecc_corrected_error_total"
            ),
            "DCGM_FI_DEV_ROW_REMAP_FAILURE": _named("mlu_repair_failure"),
            "DCGM_FI_DEV_ROW_REMAP_PENDING": _named("mlu_repair_pending"),
            "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": _named("mlu_remapped_uncorrect_rows"),
            "DCGM_FI_DEV_RETIRED_SBE": _named("mlu_single_bit_retired_page_count"),
            "DCGM_FI_DEV_RETIRED_DBE": _named("mlu_double_bit_retired_page_count"),
            "DCGM_FI_DEV_PCIE_LINK_WIDTH": _named("mlu_pcie_current_width"),
            "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": _named("mlu_pcie_replay_count"),
            "pcie_speed": _named("mlu_pcie_current_speed"),
            "gpu_health": _named("mlu_health"),
            "gpu_port_up": _named("mlu_mlulink_status"),
        },
    ),
    GpuExporter(
        name=sentence("Hygon's dcu-exporter"),
        fix=sentence("install Hygon's dcu-exporter, and let Prometheus scrape it (port 16080)"),
        signals={
            "DCGM_FI_DEV_GPU_TEMP": _named("dcu_temp"),
            "DCGM_FI_DEV_GPU_UTIL": _named("dcu_utilizationrate"),
            "DCGM_FI_DEV_FB_USED": _named("dcu_usedmemory_bytes", factor=1 / _MIB),
            "DCGM_FI_DEV_POWER_USAGE": _named("dcu_power_usage"),
        },
    ),
    GpuExporter(
        name=sentence("Intel's XPU Manager"),
        fix=sentence("install Intel's XPU Manager, and let Prometheus scrape it (port 29999)"),
        signals={
            "DCGM_FI_DEV_GPU_TEMP": _named("xpum_temperature_celsius", where={"location": "gpu"}),
            "DCGM_FI_DEV_MEMORY_TEMP": _named("xpum_temperature_celsius", where={"location": "mem"}),
            "DCGM_FI_DEV_GPU_UTIL": _named("xpum_engine_ratio"),
            "DCGM_FI_DEV_FB_USED": _named("xpum_memory_used_bytes", factor=1 / _MIB),
            "DCGM_FI_DEV_POWER_USAGE": _named("xpum_power_watts"),
            "DCGM_FI_DEV_SM_CLOCK": _named("xpum_frequency_mhz", where={"location": "gpu", "type": "actual"}),
            "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": _named("xpum_cache_errors", where={"type": "uncorrectable"}),
            "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": _named("xpum_cache_errors", where={"type": "correctable"}),
        },
    ),
)
