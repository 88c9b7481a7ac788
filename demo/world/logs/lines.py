"""This file is what components print when something happens: real texts, each as its program writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from demo.world.exporters.dcgm import XID_TEXTS
from demo.world.layout import kernel_pci
from demo.world.logs.line import Line, klog
from demo.world.state import Happening, State

Writer = Callable[[Happening, State], list[Line]]


def lines_of(happened: Happening, state: State) -> list[Line]:
    """The lines that a happening leaves behind; none when it leaves none."""
    writer = WRITERS.get(happened.what)
    return [] if writer is None else writer(happened, state)


def _kernel(h: Happening, text: str, level: str = "warning") -> Line:
    return Line(at=h.at, text=text, level=level, node=h.node, unit="kernel")


def _kubelet(h: Happening, level: str, source: str, message: str) -> Line:
    return Line(at=h.at, text=klog(h.at, level, source, message), level=level, node=h.node, unit="kubelet")


def _app(h: Happening, text: str, level: str = "info", *, stderr: bool = True) -> Line:
    return Line(at=h.at, text=text, level=level, node=h.node, pod=h.pod, stderr=stderr, shows_level=False)


XID_LINES = {
    13: "Graphics SM Warp Exception on (GPC 1, TPC 3, SM 0): Illegal Instruction Parameter",
    31: "Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_3 faulted @ 0x7f2a_c0000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ",
    43: "Ch 00000010",
    48: "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at partition 6, subpartition 1.",
    63: "Row Remapper: New row marked for remapping, reset gpu to activate.",
    64: "Row Remapper: Failed to record a row for remapping.",
    74: "NVLink: fatal error detected on link 6(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
    79: "GPU has fallen off the bus.",
    94: "Contained: FBHUB (0x1). RST: No, D-RST: No",
    95: "Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No",
    119: "Timeout after 6s of waiting for RPC response from GPU{gpu} GSP! Expected function 103 (GSP_RM_ALLOC) (0x2081 0x4).",
}


def _xid(h: Happening, state: State) -> list[Line]:
    number, pci = int(h.facts["xid"]), h.facts["pci"]
    text = XID_LINES.get(number, XID_TEXTS.get(number, "Unknown Error")).replace("{gpu}", str(h.gpu))
    process = (
        f"pid={h.facts['pid']}, name=python3, "
        if h.facts.get("busy")
        else "pid='<unknown>', name=<unknown>, "
    )
    made = [_kernel(h, f"NVRM: Xid (PCI:{pci}): {number}, {process}{text}", "error")]
    if number == 79:
        made = [
            _kernel(
                h,
                f"pcieport 0000:15:01.0: AER: Uncorrectable (Fatal) error message received from {pci}.0",
                "error",
            ),
            *made,
            _kernel(h, f"NVRM: GPU {pci}.0: GPU has fallen off the bus.", "error"),
        ]
    return made


def _unhealthy(h: Happening, state: State) -> list[Line]:
    uuid = state.hosts[h.node or ""].gpus[h.gpu or 0].uuid
    text = f"XidCriticalError: Xid={h.facts['xid']} on Device={uuid}; marking device as unhealthy."
    made = Line(
        at=h.at,
        text=klog(h.at, "info", "health.go:171", text),
        level="info",
        node=h.node,
        unit="nvidia-device-plugin",
    )
    return [
        made,
        _kubelet(
            h,
            "info",
            "manager.go:319",
            f'"Processed device updates for resource" resourceName="nvidia.com/gpu" totalCount=8 healthyCount={7}',
        ),
    ]


def _gpu_back(h: Happening, state: State) -> list[Line]:
    return [_kernel(h, f"nvidia {kernel_pci(h.gpu or 0)}.0: enabling device (0000 -> 0002)", "info")]


def _oom(h: Happening, state: State) -> list[Line]:
    pages = int(float(h.facts["bytes"]) / 1024)
    uid = h.facts["uid"].replace("-", "_")
    return [
        _kernel(
            h,
            f"oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=cri-containerd-{uid}.scope,mems_allowed=0-1,"
            f"global_oom,task_memcg=/kubepods.slice/kubepods-burstable-pod{uid}.slice,task=python3,pid=51877,uid=0",
        ),
        _kernel(
            h,
            f"Memory cgroup out of memory: Killed process 51877 (python3) total-vm:{pages * 2}kB, anon-rss:{pages}kB, "
            "file-rss:18432kB, shmem-rss:0kB, UID:0 pgtables:91240kB oom_score_adj:937",
            "error",
        ),
        _kubelet(
            h, "warning", "oom_watcher_linux.go:76", '"Got sys oom event" event="pid: 51877, name: python3"'
        ),
    ]


def _cuda_error(h: Happening, state: State) -> list[Line]:
    return [
        _app(
            h,
            f"[rank{_rank(h, state)}]: RuntimeError: CUDA error: unspecified launch failure",
            "error",
        ),
        _app(
            h,
            "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.",
            "error",
        ),
    ]


def _cuda_crash(h: Happening, state: State) -> list[Line]:
    return [
        _app(
            h,
            f"[rank{_rank(h, state)}]: torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
            "error",
        )
    ]


def _watchdog(h: Happening, state: State) -> list[Line]:
    rank, seconds = h.facts.get("rank", "0"), int(state.watchdog.total_seconds() * 1000)
    head = f"[rank{rank}]:[E{h.at:%m%d %H:%M:%S.%f} ProcessGroupNCCL.cpp:632] [Rank {rank}]"
    return [
        _app(
            h,
            f"{head} Watchdog caught collective operation timeout: WorkNCCL(SeqNum=48213, OpType=ALLREDUCE, NumelIn=26214400, "
            f"NumelOut=26214400, Timeout(ms)={seconds}) ran for {seconds + 87} milliseconds before timing out.",
            "error",
        ),
        _app(h, f"{head} To avoid data inconsistency, we are taking the entire process down.", "error"),
    ]


def _peer_gone(h: Happening, state: State) -> list[Line]:
    return [
        _app(
            h,
            "NCCL WARN NET/IB : Got completion from peer 10.0.0.12<47311> with status=12 opcode=0 len=0 vendor err 129 (Recv)",
            "error",
        )
    ]


def _rank_lost(h: Happening, state: State) -> list[Line]:
    return [
        _app(
            h,
            "torch.distributed.elastic.rendezvous: worker group membership changed, waiting for all workers to join",
            "warning",
        ),
        _app(h, "NCCL WARN socketProgress: Connection closed by remote peer", "error"),
    ]


def _name_failed(h: Happening, state: State) -> list[Line]:
    body = state.bodies.get(h.pod) if h.pod else None
    job = body.training.name if body and body.training else "worker"
    other = state.rng.randrange(8)
    return [
        _app(
            h,
            f"socket.gaierror: [Errno -3] Temporary failure in name resolution: {job}-{other}.{job}",
            "error",
        ),
        _app(
            h,
            f"I tensorflow/core/distributed_runtime/master.cc:240] CreateSession still waiting for response from worker: /job:worker/replica:0/task:{other}",
        ),
    ]


def _dns_timeout(h: Happening, state: State) -> list[Line]:
    source = 30000 + state.rng.randrange(30000)
    name = state.rng.choice(
        ("s3.dc1.example", "registry.dc1.example", "detr-worker-2.detr-worker.vision-detr.svc.cluster.local")
    )
    text = f"[ERROR] plugin/errors: 2 {name}. A: read udp 10.244.1.2:{source}->10.0.9.2:53: i/o timeout"
    return [Line(at=h.at, text=text, level="error", pod=h.pod, stderr=False)]


def _step(h: Happening, state: State) -> list[Line]:
    f = h.facts
    return [_app(h, f"step {f['step']} loss {f['loss']} step_time {f['seconds']}s", stderr=False)]


def _simple(text: str, level: str = "info") -> Writer:
    return lambda h, state: [_app(h, text.format(**h.facts), level, stderr=False)]


def _started(h: Happening, state: State) -> list[Line]:
    pod = f"{h.pod.namespace}/{h.pod.name}" if h.pod else ""
    uid = h.facts.get("uid", "")
    return [
        _kubelet(
            h,
            "info",
            "kubelet.go:2519",
            f'"SyncLoop (PLEG): event for pod" pod="{pod}" event={{"ID":"{uid}","Type":"ContainerStarted"}}',
        )
    ]


def _stopped(h: Happening, state: State) -> list[Line]:
    pod = f"{h.pod.namespace}/{h.pod.name}" if h.pod else ""
    return [_kubelet(h, "info", "kubelet.go:2535", f'"SyncLoop DELETE" source="api" pods=["{pod}"]')]


def _condition(h: Happening, state: State) -> list[Line]:
    level = (
        "warning"
        if "Insufficient" in h.facts["reason"] or h.facts["reason"] == "KubeletHasDiskPressure"
        else "info"
    )
    made = [
        _kubelet(
            h,
            level,
            "kubelet_node_status.go:724",
            f'"Recording event message for node" node="{h.node}" event="{h.facts["reason"]}"',
        )
    ]
    if h.facts["reason"] == "KubeletHasDiskPressure":
        made.append(
            _kubelet(
                h,
                "warning",
                "eviction_manager.go:376",
                '"Eviction manager: attempting to reclaim" resourceName="ephemeral-storage"',
            )
        )
    return made


def _kubelet_start(h: Happening, state: State) -> list[Line]:
    return [_kubelet(h, "info", "server.go:211", '"Kubelet version" kubeletVersion="v1.36.3"')]


COMPONENT_ERRORS: Mapping[str, tuple[str, str]] = {
    "kubelet": (
        "pod_workers.go:1324",
        '"Error syncing pod, skipping" err="failed to \\"StartContainer\\" for \\"worker\\" with CrashLoopBackOff" pod="reco-embed/embed-worker-0"',
    ),
    "containerd": (
        "",
        'level=error msg="failed to handle container TaskExit event" error="failed to stop container: context deadline exceeded"',
    ),
    "calico-node": (
        "",
        "[ERROR][54] felix/int_dataplane.go 2031: Failed to apply ipset updates error=exit status 1",
    ),
    "kube-proxy": (
        "proxier.go:733",
        '"Failed to execute iptables-restore" err="exit status 4: another app is currently holding the xtables lock"',
    ),
}


def _component_error(h: Happening, state: State) -> list[Line]:
    component = h.facts["component"]
    source, text = COMPONENT_ERRORS.get(
        component, ("", f'level=error msg="{component}: request failed: connection refused"')
    )
    shown = klog(h.at, "error", source, text) if source else text
    return [Line(at=h.at, text=shown, level="error", node=h.node, unit=component)]


def _component_says(h: Happening, state: State) -> list[Line]:
    component, said = h.facts["component"], h.facts["text"]
    text = (
        klog(h.at, "error", "manager.go:1188", said)
        if component in ("kubelet", "kube-proxy")
        else f'level=error msg="{said}"'
    )
    return [Line(at=h.at, text=text, level="error", node=h.node, unit=component)]


def _osd(h: Happening, state: State) -> list[Line]:
    return [_kernel(h, f"libceph: osd{h.facts['osd']} {h.facts['way']}", "info")]


def _uvm(h: Happening, state: State) -> list[Line]:
    text = "Running modprobe nvidia-uvm nvidia failed with message: exit status 1; stat /dev/nvidia-uvm: no such file or directory"
    return [
        Line(
            at=h.at,
            text=klog(h.at, "error", "nvidia.go:88", text),
            level="error",
            node=h.node,
            unit="gpu-manager",
        )
    ]


def _unmap_failed(h: Happening, state: State) -> list[Line]:
    device, image = "/dev/rbd1", h.facts["image"]
    made = Line(
        at=h.at,
        level="error",
        node=h.node,
        unit="kubelet",
        text=klog(
            h.at,
            "error",
            "nestedpendingoperations.go:348",
            f'Operation for "{{volumeName:kubernetes.io/csi/rbd.csi.ceph.com^{image}}}" failed. Error: UnmountDevice failed for volume '
            f'"{image}" : rpc error: code = Internal desc = rbd: unmap for spec ({device}) failed (exit status 16)\n'
            f"rbd: failed to unmap device {device}, error exit status 16\nrbd: unmap failed: (16) Device or resource busy",
        ),
    )
    return [made]


def _mount_failed(h: Happening, state: State) -> list[Line]:
    claim = f"{h.facts['namespace']}/{h.facts['claim']}"
    return [
        _kubelet(
            h,
            "error",
            "mount_linux.go:231",
            "Mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ext4 -o defaults "
            "/dev/rbd1 /var/lib/kubelet/plugins/kubernetes.io/csi/rbd.csi.ceph.com/globalmount\n"
            "Output: mount: wrong fs type, bad option, bad superblock on /dev/rbd1, missing codepage or helper program, or other error",
        ),
        _kubelet(
            h,
            "error",
            "csi_attacher.go:366",
            f'MountVolume.MountDevice failed for volume "{h.facts["image"]}" (claim {claim})',
        ),
    ]


def _format(h: Happening, state: State) -> list[Line]:
    return [
        _kubelet(
            h,
            "info",
            "mount_linux.go:515",
            'Disk "/dev/rbd1" appears to be unformatted, attempting to format as type: "ext4" with options: [-F -m0 /dev/rbd1]',
        ),
        _kubelet(
            h,
            "info",
            "mount_linux.go:525",
            "Disk successfully formatted (mkfs): ext4 - /dev/rbd1 /var/lib/kubelet/plugins/kubernetes.io/csi/rbd.csi.ceph.com/globalmount",
        ),
    ]


def _rank(h: Happening, state: State) -> int:
    body = state.bodies.get(h.pod) if h.pod else None
    return body.rank if body else 0


WRITERS: Mapping[str, Writer] = {
    "xid": _xid,
    "gpu-unhealthy": _unhealthy,
    "gpu-back": _gpu_back,
    "oom": _oom,
    "cuda-error": _cuda_error,
    "cuda-crash": _cuda_crash,
    "watchdog": _watchdog,
    "peer-gone": _peer_gone,
    "rank-lost": _rank_lost,
    "name-failed": _name_failed,
    "dns-timeout": _dns_timeout,
    "step": _step,
    "starting": _simple("initializing process group with NCCL backend"),
    "session": _simple("all ranks joined, training starts"),
    "checkpoint": _simple("checkpoint saved at step {step} to /ckpt/step-{step}"),
    "finished": _simple("training finished"),
    "pod-started": _started,
    "pod-stopped": _stopped,
    "node-condition": _condition,
    "kubelet-start": _kubelet_start,
    "component-error": _component_error,
    "component-says": _component_says,
    "osd": _osd,
    "uvm-missing": _uvm,
    "unmap-failed": _unmap_failed,
    "mount-failed": _mount_failed,
    "format": _format,
}
