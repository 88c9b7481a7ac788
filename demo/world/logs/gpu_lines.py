"""Log lines of drivers, device plugins and kernels about GPUs and memory."""

from __future__ import annotations

from demo.world.exporters.dcgm import XID_TEXTS
from demo.world.kube.statuses import healthy_gpus
from demo.world.layout import kernel_pci
from demo.world.logs.line import Line, klog
from demo.world.logs.writers import kernel, kubelet
from demo.world.state import State, WorldEvent

XID_LINES = {
    13: "Graphics SM Warp Exception on (GPC 1, TPC 3, SM 0): Illegal Instruction Parameter",
    31: "Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_3 faulted @ "
    "0x7f2a_c0000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
    43: "Ch 00000010",
    48: "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at "
    "partition 6, subpartition 1.",
    63: "Row Remapper: New row marked for remapping, reset gpu to activate.",
    64: "Row Remapper: Failed to record a row for remapping.",
    74: "NVLink: fatal error detected on link 6(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
    79: "GPU has fallen off the bus.",
    94: "Contained: FBHUB (0x1). RST: No, D-RST: No",
    95: "Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No",
    119: "Timeout after 6s of waiting for RPC response from GPU{gpu} GSP! Expected function 103 "
    "(GSP_RM_ALLOC) (0x2081 0x4).",
}


def xid(e: WorldEvent, state: State) -> list[Line]:
    number, pci = int(e.facts["xid"]), e.facts["pci"]
    text = XID_LINES.get(number, XID_TEXTS.get(number, "Unknown Error")).replace("{gpu}", str(e.gpu))
    process = (
        f"pid={e.facts['pid']}, name=python3, "
        if e.facts.get("busy")
        else "pid='<unknown>', name=<unknown>, "
    )
    lines = [kernel(e, f"NVRM: Xid (PCI:{pci}): {number}, {process}{text}", "error")]
    if number == 79:
        lines = [
            kernel(
                e,
                f"pcieport 0000:15:01.0: AER: Uncorrectable (Fatal) error message received from {pci}.0",
                "error",
            ),
            *lines,
            kernel(e, f"NVRM: GPU {pci}.0: GPU has fallen off the bus.", "error"),
        ]
    return lines


def unhealthy(e: WorldEvent, state: State) -> list[Line]:
    host = state.hosts[e.node or ""]
    uuid = host.gpus[e.gpu or 0].uuid
    text = f"XidCriticalError: Xid={e.facts['xid']} on Device={uuid}; marking device as unhealthy."
    line = Line(
        at=e.at,
        text=klog(e.at, "info", "health.go:171", text),
        level="info",
        node=e.node,
        unit="nvidia-device-plugin",
    )
    return [
        line,
        kubelet(
            e,
            "info",
            "manager.go:319",
            f'"Processed device updates for resource" resourceName="nvidia.com/gpu" '
            f"totalCount={len(host.gpus)} healthyCount={healthy_gpus(host)}",
        ),
    ]


def gpu_back(e: WorldEvent, state: State) -> list[Line]:
    return [kernel(e, f"nvidia {kernel_pci(e.gpu or 0)}.0: enabling device (0000 -> 0002)", "info")]


def uvm(e: WorldEvent, state: State) -> list[Line]:
    text = (
        "Running modprobe nvidia-uvm nvidia failed with message: exit status 1; stat "
        "/dev/nvidia-uvm: no such file or directory"
    )
    return [
        Line(
            at=e.at,
            text=klog(e.at, "error", "nvidia.go:88", text),
            level="error",
            node=e.node,
            unit="gpu-manager",
        )
    ]


def oom(e: WorldEvent, state: State) -> list[Line]:
    pages = int(float(e.facts["bytes"]) / 1024)
    uid = e.facts["uid"].replace("-", "_")
    return [
        kernel(
            e,
            f"oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=cri-containerd-{uid}.scope,mems_allowed=0-1,"
            f"global_oom,task_memcg=/kubepods.slice/kubepods-burstable-pod{uid}.slice,task=python3,pid=51877,uid=0",
        ),
        kernel(
            e,
            f"Memory cgroup out of memory: Killed process 51877 (python3) total-vm:{pages * 2}kB, anon-rss:{pages}kB, "
            "file-rss:18432kB, shmem-rss:0kB, UID:0 pgtables:91240kB oom_score_adj:937",
            "error",
        ),
        kubelet(
            e, "warning", "oom_watcher_linux.go:76", '"Got sys oom event" event="pid: 51877, name: python3"'
        ),
    ]
