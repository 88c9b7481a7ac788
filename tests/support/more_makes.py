"""Further faults of GPUs of other makes, and further exporters of them, written as their projects document them.

The names are those of ROCm/device-metrics-exporter (docs/configuration/metricslist.md), amd/amd_smi_exporter, Ascend's
npu-exporter, tkestack/gpu-manager (docs/faq.md), telegraf's `nvidia_smi` and Datadog's check of DCGM. They were written
before anybody looked at what the packs have.
"""

from collections.abc import Mapping
from dataclasses import replace

from tests.support.gpu_makes import AMD, ASCEND, VCUDA, GpuMake, MakeMetric, steady
from tests.support.recorded_cluster import FaultKind


def _more(make: GpuMake, *metrics: MakeMetric) -> GpuMake:
    """Return the exporter with these metrics too; the faults are theirs."""
    names = {metric.name for metric in metrics}
    kept = tuple(metric for metric in make.metrics if metric.name not in names)
    return _with_faults(replace(make, name=f"{make.name}-more", metrics=(*kept, *metrics)), metrics)


def _with_faults(make: GpuMake, metrics: tuple[MakeMetric, ...] = ()) -> GpuMake:
    """Return the exporter with the faults of these metrics, or of all of them."""
    kinds = (kind for one in metrics or make.metrics for kind in (*one.faulty, *one.grows))
    return replace(make, faults=tuple(dict.fromkeys(kinds)))


AMD_MORE = _more(
    AMD,
    # "FATAL, uncorrectable", of the device itself
    MakeMetric(
        name="gpu_afid_errors",
        well=0,
        faulty={FaultKind.ERROR_CODE: 30},
        labels={"afid_index": "0"},
        only_faulty=True,
    ),
    MakeMetric(name="gpu_ecc_correct_total", well=4, grows={FaultKind.CORRECTED: 120}),
    MakeMetric(name="pcie_replay_count", well=0, grows={FaultKind.REPLAYS: 180}),
    MakeMetric(name="pcie_speed", well=32, faulty={FaultKind.SLOW_LINK: 2.5}),
    MakeMetric(name="pcie_max_speed", well=32),
    MakeMetric(name="gpu_memory_temperature", well=48, faulty={FaultKind.HOT_MEMORY: 104}),
    MakeMetric(name="gpu_violation_ppt_residency_percentage", well=0, faulty={FaultKind.POWER_CAPPED: 60}),
    MakeMetric(
        name="gpu_violation_hbm_thermal_residency_percentage", well=0, faulty={FaultKind.HELD_MEMORY: 40}
    ),
    MakeMetric(name="gpu_used_vram", well=150_000, faulty={FaultKind.FULL: 196_300}),
    MakeMetric(name="gpu_free_vram", well=46_592, faulty={FaultKind.FULL: 292}),
    MakeMetric(name="gpu_total_vram", well=196_592),
)


def _smi(
    name: str, well: float, faulty: Mapping[FaultKind, float] | None = None, *, moves: bool = False
) -> MakeMetric:
    """Return a metric of amd_smi_exporter: the GPU's number is in a label that is called like the metric."""
    return MakeMetric(
        name=f"amd_gpu_{name}", well=well, faulty=faulty or {}, labels={f"gpu_{name}": "{gpu}"}, moves=moves
    )


AMD_SMI = _with_faults(
    GpuMake(
        name="amd-smi",
        resource="amd.com/gpu",
        job="amd-smi-exporter",
        target={"instance": "{address}:2021"},
        labels={"productname": "Instinct MI250X"},
        pod=("exported_namespace", "exported_pod", "exported_container"),
        metrics=(
            _smi("current_temperature", 61_000, {FaultKind.HOT: 99_000}),  # millidegrees
            _smi("use_percent", 90, {FaultKind.IDLE: 0}),
            _smi("power", 600_000_000, moves=True),  # microwatts
            _smi("memory_use_percent", 40),
        ),
    )
)
ASCEND_MORE = _more(
    ASCEND,
    MakeMetric(name="npu_chip_info_error_code", well=0, faulty={FaultKind.ERROR_CODE: 2_164_260_871}),
    MakeMetric(name="npu_chip_info_link_status", well=1, faulty={FaultKind.PORT_DOWN: 0}),
    MakeMetric(name="npu_chip_info_network_status", well=1, faulty={FaultKind.NO_NETWORK: 0}),
    MakeMetric(
        name="npu_chip_info_hbm_ecc_total_single_bit_error_cnt", well=3, grows={FaultKind.CORRECTED: 120}
    ),
    MakeMetric(
        name="npu_chip_info_hbm_ecc_double_bit_isolated_pages_cnt", well=0, faulty={FaultKind.ISOLATED: 64}
    ),
    MakeMetric(name="npu_chip_info_hbm_temperature", well=52, faulty={FaultKind.HOT_MEMORY: 97}),
    MakeMetric(name="npu_chip_roce_rx_err_pkt_num", well=0, grows={FaultKind.BAD_PACKETS: 6000}),
)
VCUDA_MORE = _more(
    VCUDA,
    MakeMetric(
        name="container_gpu_memory_total",
        well=500,
        faulty={FaultKind.FULL: 1020},
        labels={"gpu": "", "gpu_memory": "total"},
    ),
    MakeMetric(
        name="container_request_gpu_memory", well=1024, labels={"gpu": "", "req_of_gpu_memory": "total"}
    ),
)
TELEGRAF = _with_faults(
    GpuMake(
        name="telegraf",
        resource="nvidia.com/gpu",
        job="telegraf",
        target={"instance": "{address}:9273"},
        labels={
            "host": "{node}",
            "index": "{gpu}",
            "uuid": "GPU-9a9a6c50-2a47-2f51-{number}-{gpu}",
            "name": "NVIDIA A100-SXM4-80GB",
            "compute_mode": "Default",
        },
        pod=("", "", ""),
        metrics=(
            *steady(nvidia_smi_temperature_gpu=55, nvidia_smi_utilization_gpu=90),
            *steady(nvidia_smi_memory_used=60_000, nvidia_smi_memory_total=81_559),
            *steady(nvidia_smi_clocks_current_sm=1755, nvidia_smi_remapped_rows_correctable=0),
            MakeMetric(name="nvidia_smi_power_draw", well=300, moves=True),
            MakeMetric(name="nvidia_smi_remapped_rows_uncorrectable", well=0, faulty={FaultKind.ISOLATED: 1}),
        ),
    )
)
DATADOG = _with_faults(
    GpuMake(
        name="datadog",
        resource="nvidia.com/gpu",
        job="dcgm-exporter",
        target={"instance": "{address}:9400"},
        labels={
            "Hostname": "{node}",
            "gpu": "{gpu}",
            "UUID": "GPU-9a9a6c50-2a47-2f52-{number}-{gpu}",
            "device": "nvidia{gpu}",
            "modelName": "NVIDIA H100",
        },
        metrics=(
            *steady(dcgm_temperature=55, dcgm_gpu_utilization=90, dcgm_xid_errors=0),
            *steady(dcgm_frame_buffer_used=60_000, dcgm_frame_buffer_free=21_000),
            MakeMetric(name="dcgm_power_usage", well=300, moves=True),
            MakeMetric(name="dcgm_row_remap_failure", well=0, faulty={FaultKind.ISOLATED: 1}),
        ),
    )
)
MORE_MAKES = (AMD_MORE, AMD_SMI, ASCEND_MORE, VCUDA_MORE, TELEGRAF, DATADOG)


# A second set, written after the same lists for what the first one lacks.
def _again(make: GpuMake, *metrics: MakeMetric, without: str = "") -> GpuMake:
    kept = tuple(metric for metric in make.metrics if metric.name != without)
    well = tuple(replace(metric, faulty={}, grows={}) for metric in kept)
    return _with_faults(
        replace(make, name=f"{make.name.removesuffix('-more')}-again", metrics=(*well, *metrics)), metrics
    )


AMD_AGAIN = _again(
    AMD,
    MakeMetric(name="gpu_edge_temperature", well=60, faulty={FaultKind.HOT: 104}),  # of the MI200 series
    MakeMetric(
        name="gpu_violation_processor_hot_residency_percentage", well=0, faulty={FaultKind.THROTTLED: 40}
    ),
    MakeMetric(name="pcie_recovery_count", well=0, grows={FaultKind.REPLAYS: 180}),
    without="gpu_junction_temperature",
)
ASCEND_AGAIN = _again(
    ASCEND,
    MakeMetric(name="npu_chip_info_hbm_ecc_single_bit_error_cnt", well=3, grows={FaultKind.CORRECTED: 120}),
    MakeMetric(name="npu_chip_link_up_num", well=2, grows={FaultKind.FLAPPING_LINK: 0.5}),
    MakeMetric(name="npu_chip_optical_temp", well=50, faulty={FaultKind.HOT_OPTICS: 85}),
)
TELEGRAF_AGAIN = _again(
    TELEGRAF,
    MakeMetric(name="nvidia_smi_pcie_link_width_current", well=16, faulty={FaultKind.SLOW_LINK: 4}),
    MakeMetric(name="nvidia_smi_pcie_link_gen_current", well=4),
)
DATADOG_AGAIN = _again(
    DATADOG,
    MakeMetric(name="dcgm_pcie_replay_count", well=0, grows={FaultKind.REPLAYS: 180}),
    MakeMetric(name="dcgm_memory_temperature", well=60, faulty={FaultKind.HOT_MEMORY: 105}),
)
MAKES_AGAIN = (AMD_AGAIN, ASCEND_AGAIN, TELEGRAF_AGAIN, DATADOG_AGAIN)
