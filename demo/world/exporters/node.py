"""Metrics of node_exporter 1.x on one server."""

from __future__ import annotations

from datetime import datetime

from demo.world.exporters.text import Family, counter, gauge
from demo.world.layout import KERNEL
from demo.world.state import CPU_MODES, Host

FABRIC = ("mlx5_0", "mlx5_1")


def families(host: Host, now: datetime) -> list[Family]:
    """The metrics of the exporter on this server at `now`."""
    return [*_cpus(host), *_memory(host), *_disks(host), *_network(host), *_system(host, now)]


def _cpus(host: Host) -> list[Family]:
    cpus = counter("node_cpu_seconds_total", "Seconds the CPUs spent in each mode.")
    for cpu in range(host.spec.cpus):
        skew = 1 + 0.03 * ((cpu * 7 % 5) - 2) / 2  # cores differ; their mean is the server's
        values = {mode: seconds * skew for mode, seconds in host.cpu_seconds.items() if mode != "idle"}
        values["idle"] = max(0.0, sum(host.cpu_seconds.values()) - sum(values.values()))
        for mode in CPU_MODES:
            cpus.put({"cpu": str(cpu), "mode": mode}, round(values[mode], 2))
    answer = [cpus]
    for name, tau in (("node_load1", 1.0), ("node_load5", 0.97), ("node_load15", 0.94)):
        family = gauge(name, f"{name[9:]}m load average.")
        family.add(round(host.load * tau, 2))
        answer.append(family)
    return answer


def _memory(host: Host) -> list[Family]:
    total = float(host.spec.memory)
    available = host.memory_available
    values = {
        "MemTotal": total,
        "MemAvailable": available,
        "MemFree": available * 0.42,
        "Buffers": total * 0.002,
        "Cached": available * 0.55,
        "Shmem": total * 0.004,
        "SwapTotal": 0.0,
        "SwapFree": 0.0,
    }
    answer = []
    for name, value in values.items():
        family = gauge(f"node_memory_{name}_bytes", f"Memory information field {name}_bytes.")
        family.add(round(value))
        answer.append(family)
    for name, value in (("oom_kill", host.oom_kills), ("pgmajfault", host.page_faults)):
        family = Family(f"node_vmstat_{name}", "untyped", f"/proc/vmstat information field {name}.")
        family.add(round(value))
        answer.append(family)
    return answer


def _disks(host: Host) -> list[Family]:
    answer = []
    root = {"device": "/dev/nvme0n1p2", "fstype": "ext4", "mountpoint": "/"}
    size = float(host.spec.disk)
    free = size - host.disk_used
    for name, value in (
        ("size_bytes", size),
        ("free_bytes", free),
        ("avail_bytes", max(0.0, free - size * 0.01)),
        ("files", 1.17e8),
        ("files_free", 1.15e8),
        ("readonly", 0.0),
        ("device_error", 0.0),
    ):
        family = gauge(f"node_filesystem_{name}", f"Filesystem {name.replace('_', ' ')}.")
        family.put(root | ({"device_error": ""} if name == "device_error" else {}), round(value))
        answer.append(family)
    for name, value in (
        ("read_bytes_total", host.read_bytes),
        ("written_bytes_total", host.written_bytes),
        ("io_time_seconds_total", host.io_seconds),
        ("reads_completed_total", host.read_bytes / 131072),
        ("writes_completed_total", host.written_bytes / 65536),
    ):
        family = counter(f"node_disk_{name}", f"Disk {name.replace('_', ' ')}.")
        family.add(round(value, 3), device="nvme0n1")
        answer.append(family)
    return answer


def _network(host: Host) -> list[Family]:
    answer = []
    for name, value in (
        ("receive_bytes_total", host.received),
        ("transmit_bytes_total", host.sent),
        ("receive_packets_total", host.received / 3000),
        ("transmit_packets_total", host.sent / 3000),
        ("receive_errs_total", 0.0),
        ("transmit_errs_total", 0.0),
        ("receive_drop_total", 0.0),
        ("transmit_drop_total", 0.0),
    ):
        family = counter(f"node_network_{name}", f"Network device statistic {name.removesuffix('_total')}.")
        family.add(round(value), device="eth0")
        answer.append(family)
    for name, value in (("up", 1.0), ("speed_bytes", 25e9), ("mtu_bytes", 9000.0)):
        family = gauge(f"node_network_{name}", f"{name} value of /sys/class/net/<iface>.")
        family.add(value, device="eth0")
        answer.append(family)
    if host.spec.gpus:
        for name, kind, value in (
            ("state_id", "gauge", 4.0),
            ("physical_state_id", "gauge", 5.0),
            ("link_downed_total", "counter", 0.0),
            ("symbol_error_total", "counter", 0.0),
        ):
            family = Family(f"node_infiniband_{name}", kind, f"InfiniBand {name.replace('_', ' ')}.")
            for device in FABRIC:
                family.add(value, device=device, port="1")
            answer.append(family)
    return answer


def _system(host: Host, now: datetime) -> list[Family]:
    answer = []
    for name, kind, value in (
        ("node_boot_time_seconds", "gauge", round(host.booted.timestamp())),
        ("node_time_seconds", "gauge", now.timestamp()),
        ("node_context_switches_total", "counter", round(host.context_switches)),
        ("node_timex_offset_seconds", "gauge", host.clock_offset),
        ("node_timex_sync_status", "gauge", 1.0),
        ("node_timex_maxerror_seconds", "gauge", 0.012),
        ("node_nf_conntrack_entries", "gauge", round(900 + host.load * 40)),
        ("node_nf_conntrack_entries_limit", "gauge", 262144.0),
        ("node_procs_running", "gauge", max(1, round(host.load))),
    ):
        family = Family(name, kind, f"{name} of the host.")
        family.add(float(value))
        answer.append(family)
    uname = gauge("node_uname_info", "Labeled system information as provided by the uname system call.")
    uname.add(
        1,
        sysname="Linux",
        release=KERNEL,
        version="#67-Ubuntu SMP",
        machine="x86_64",
        nodename=host.name,
        domainname="(none)",
    )
    return [*answer, uname]
