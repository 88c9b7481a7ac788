"""Metrics of dcgm-exporter 4.x on one node: DCGM_FI_* and DCGM_EXP_* with the labels of its Kubernetes mapping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from demo.world.exporters.text import Family, counter, gauge
from demo.world.layout import DRIVER, MODEL, gpu_pci
from demo.world.shared_services import PodKey
from demo.world.state import Body, Gpu, Host

XID_TEXTS = {
    0: "No Error",
    13: "Graphics Engine Exception",
    31: "GPU memory page fault",
    43: "GPU stopped processing",
    45: "Preemptive cleanup, due to previous errors",
    48: "Double Bit ECC Error",
    62: "Internal micro-controller halt",
    63: "ECC page retirement or row remapping recording event",
    64: "ECC page retirement or row remapper recording failure",
    74: "NVLINK Error",
    79: "GPU has fallen off the bus",
    94: "Contained ECC error",
    95: "Uncontained ECC error",
    119: "GSP RPC Timeout",
    120: "GSP Error",
}

# Name, type, help and value, in the order of this cluster's counters file.
FIELDS: tuple[tuple[str, str, str, Callable[[Gpu], float]], ...] = (
    ("DCGM_FI_DEV_SM_CLOCK", "gauge", "SM clock frequency (in MHz).", lambda g: round(g.clock)),
    ("DCGM_FI_DEV_MEM_CLOCK", "gauge", "Memory clock frequency (in MHz).", lambda g: 3201),
    ("DCGM_FI_DEV_GPU_TEMP", "gauge", "GPU temperature (in C).", lambda g: round(g.temperature)),
    (
        "DCGM_FI_DEV_MEMORY_TEMP",
        "gauge",
        "Memory temperature (in C).",
        lambda g: round(g.temperature + 4 + g.tensor * 8),
    ),
    ("DCGM_FI_DEV_POWER_USAGE", "gauge", "Power draw (in W).", lambda g: round(g.power, 3)),
    (
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
        "counter",
        "Total energy consumption since boot (in mJ).",
        lambda g: int(g.energy),
    ),
    (
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
        "counter",
        "Total number of PCIe retries.",
        lambda g: int(g.pcie_replays),
    ),
    ("DCGM_FI_DEV_GPU_UTIL", "gauge", "GPU utilization (in %).", lambda g: round(g.utilisation)),
    (
        "DCGM_FI_DEV_MEM_COPY_UTIL",
        "gauge",
        "Memory utilization (in %).",
        lambda g: round(g.utilisation * 0.4 * (g.tensor > 0)),
    ),
    (
        "DCGM_FI_DEV_FB_FREE",
        "gauge",
        "Framebuffer memory free (in MiB).",
        lambda g: round(g.memory_total - g.memory_used),
    ),
    ("DCGM_FI_DEV_FB_USED", "gauge", "Framebuffer memory used (in MiB).", lambda g: round(g.memory_used)),
    (
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "counter",
        "Number of remapped rows for uncorrectable errors",
        lambda g: 0,
    ),
    (
        "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
        "counter",
        "Number of remapped rows for correctable errors",
        lambda g: 0,
    ),
    (
        "DCGM_FI_DEV_ROW_REMAP_FAILURE",
        "gauge",
        "Whether remapping of rows has failed",
        lambda g: float(g.xid == 64),
    ),
    (
        "DCGM_FI_DEV_ROW_REMAP_PENDING",
        "gauge",
        "Whether remapping of rows is pending",
        lambda g: float(g.xid in (63, 94)),
    ),
    (
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
        "counter",
        "Total number of double-bit volatile ECC errors.",
        lambda g: g.double_bit,
    ),
    (
        "DCGM_FI_DEV_THERMAL_VIOLATION",
        "counter",
        "Throttling duration due to thermal constraints (in ns).",
        lambda g: int(g.thermal_violation),
    ),
    (
        "DCGM_FI_DEV_POWER_VIOLATION",
        "counter",
        "Throttling duration due to power constraints (in ns).",
        lambda g: int(g.power_violation),
    ),
    (
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
        "counter",
        "Total number of NVLink bandwidth counters for all lanes.",
        lambda g: int(g.nvlink_bytes / 1e6),
    ),
    (
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
        "gauge",
        "Ratio of time the graphics engine is active.",
        lambda g: round(g.utilisation / 100, 4),
    ),
    (
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
        "gauge",
        "Ratio of cycles the tensor (HMMA) pipe is active.",
        lambda g: round(g.tensor, 4),
    ),
)


def labels_of(gpu: Gpu, bodies: Mapping[PodKey, Body]) -> dict[str, str]:
    """The labels of one GPU's series; `pod`, `namespace` and `container` only if a workload uses it."""
    labels = {
        "gpu": str(gpu.index),
        "UUID": gpu.uuid,
        "pci_bus_id": gpu_pci(gpu.index),
        "device": f"nvidia{gpu.index}",
        "modelName": MODEL,
        "Hostname": gpu.node,
        "DCGM_FI_DRIVER_VERSION": DRIVER,
    }
    if gpu.pod is not None:
        body = bodies.get(gpu.pod)
        labels |= {
            "container": body.container if body else "",
            "namespace": gpu.pod.namespace,
            "pod": gpu.pod.name,
        }
    return labels


def families(host: Host, bodies: Mapping[PodKey, Body]) -> list[Family]:
    """The metrics of this node's exporter pod. A GPU off the bus has only its XID series."""
    known = {gpu.index: labels_of(gpu, bodies) for gpu in host.gpus}
    answer: list[Family] = []
    for name, kind, text, read in FIELDS:
        family = Family(name, kind, text)
        for gpu in host.gpus:
            if not gpu.dead:
                family.put(known[gpu.index], read(gpu))
        answer.append(family)
    xid = gauge("DCGM_FI_DEV_XID_ERRORS", "Value of the last XID error encountered.")
    xids = counter(
        "DCGM_EXP_XID_ERRORS_COUNT",
        "Count of XID Errors within user-specified time window (see xid-count-window-size param).",
    )
    events = counter(
        "DCGM_EXP_CLOCK_EVENTS_COUNT",
        "Count of clock events within the user-specified time window (see clock-events-count-window-size param).",
    )
    for gpu in host.gpus:
        labels = known[gpu.index]
        error = {"err_code": str(gpu.xid), "err_msg": XID_TEXTS.get(gpu.xid, "Unknown Error")}
        xid.put(labels | error, gpu.xid)
        window = {"window_size_in_ms": str(round(gpu.window.total_seconds() * 1000))}
        # A GPU without any in the window has one series with value 0, without the label.
        seen = [
            ({"xid": str(number)}, count) for number, count in sorted(Counter(n for _, n in gpu.xids).items())
        ]
        held = [
            ({"clock_event": name}, count)
            for name, count in sorted(Counter(e for _, e in gpu.clock_events).items())
        ]
        for family, found in ((xids, seen), (events, held)):
            for extra, count in found or [({}, 0)]:
                family.put(labels | window | extra, count)
    return [*answer, xid, xids, events]
