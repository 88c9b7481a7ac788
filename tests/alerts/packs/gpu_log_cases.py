"""Cases of the rules on logs of GPUs, their switches, drivers and network cards."""

from collections.abc import Sequence

from demo.world.shared_services import PodKey
from tests.alerts.packs.expected import Fired
from tests.alerts.packs.log_case import LogCase, LogEvent


def _fired(severity: str, summary: str, **labels: str) -> Fired:
    return Fired(labels={"node": "gpu-a01", "severity": severity, **labels}, summary=summary)


def _lines(*texts: str, unit: str = "kernel", times: int = 1) -> tuple[LogEvent, ...]:
    return tuple(LogEvent(text=text, unit=unit, level="warning", times=times) for text in texts)


_RANK = PodKey("vision-detr", "detr-worker-0")
_LINK = "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error"

GPU_LOG_CASES: Sequence[LogCase] = (
    LogCase(
        rule="NVSwitchErrorLogged",
        description="one that the list calls fatal, one of the whole fabric, and one that only its line calls so",
        events=_lines(
            "nvidia-nvswitch0: SXid (PCI:0000:86:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
            "nvidia-nvswitch0: SXid (PCI:0000:86:00.0): 23001, Fatal, ingress invalid command",
            "nvidia-nvswitch0: SXid (PCI:0000:86:00.0): 11112, Fatal, Link 07 something new",
        ),
        fired=tuple(
            _fired(
                "critical",
                f"An NVSwitch of gpu-a01 logged SXid {sxid}.",
                pci="0000:86:00",
                sxid=sxid,
                **{"class": "Fatal"},
                **({"link": link} if link else {}),
            )
            for sxid, link in (("20034", "30"), ("23001", ""), ("11112", "07"))
        ),
    ),
    LogCase(
        rule="NVSwitchErrorLogged",
        description="a line without a number, and an XID",
        events=_lines(
            "nvidia-nvswitch0: SXid (PCI:0000:00:00.0): xyz, Fatal error",
            "NVRM: Xid (PCI:0000:05:00): 74, pid=1, NVLink error",
        ),
    ),
    LogCase(
        rule="NVSwitchErrorsRepeated",
        description="five errors that are not fatal",
        events=_lines(_LINK, times=5),
        fired=(_fired("warning", "The NVSwitches of gpu-a01 logged 5 errors in an hour."),),
    ),
    LogCase(
        rule="NVSwitchErrorsRepeated",
        description="five errors that are not fatal, of the fabric manager",
        events=_lines(
            *5 * ("[ERROR] [tid 12727] detected NVSwitch non-fatal error 12028 on fid 0",),
            unit="nvidia-fabricmanager",
        ),
        fired=(_fired("warning", "The NVSwitches of gpu-a01 logged 5 errors in an hour."),),
    ),
    LogCase(
        rule="NVSwitchErrorsRepeated",
        description="four errors that are not fatal",
        events=_lines(_LINK, times=4),
    ),
    LogCase(
        rule="NVSwitchFabricFailed",
        description="the fabric manager finds a fatal error",
        events=_lines(
            "[Jul 23 2024 07:53:55] [ERROR] [tid 841] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus "
            "id 00000000:86:00.0 physical id 3 port 33",
            unit="nvidia-fabricmanager",
        ),
        fired=(_fired("critical", "The fabric manager of gpu-a01 found a fatal error."),),
    ),
    LogCase(
        rule="NVSwitchFabricFailed",
        description="a machine without NVSwitches has nothing to do, and an error may be non-fatal",
        events=_lines(
            "request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do "
            "[NV_WARN_NOTHING_TO_DO]",
            "[ERROR] [tid 12727] detected NVSwitch non-fatal error 12028 on fid 0",
            unit="nvidia-fabricmanager",
        ),
    ),
    LogCase(
        rule="NVSwitchFabricFailed",
        description="it does not find the GPU of a request",
        events=_lines(
            "[Sep 17 2024 06:01:46] [ERROR] [tid 1230079] failed to find the GPU handle 5410 in the multicast "
            "team request setup 613.",
            unit="nvidia-fabricmanager",
        ),
        fired=(_fired("critical", "The fabric manager of gpu-a01 found a fatal error."),),
    ),
    LogCase(
        rule="NVSwitchFabricFailed",
        description="half of such a line is none",
        events=_lines(
            "[INFO] [tid 1] multicast team request setup 613 is done",
            "[INFO] [tid 1] failed to find the GPU handle 5410",
            unit="nvidia-fabricmanager",
        ),
    ),
    LogCase(
        rule="NVLinkDetectionFailedLogged",
        description="the driver asks a peer",
        events=_lines(
            "NVRM: knvlinkDiscoverPostRxDetLinks_GH100: Getting peer0's postRxDetLinkMask failed!",
        ),
        fired=(_fired("warning", "The driver of gpu-a01 cannot find out which NVLinks are connected."),),
    ),
    LogCase(
        rule="NVLinkDetectionFailedLogged",
        description="the driver updates its mask",
        events=_lines(
            "NVRM: knvlinkUpdatePostRxDetectLinkMask_IMPL: Failed to update Rx Detect Link mask!",
        ),
        fired=(_fired("warning", "The driver of gpu-a01 cannot find out which NVLinks are connected."),),
    ),
    LogCase(
        rule="NVLinkDetectionFailedLogged",
        description="a link that is up",
        events=_lines(
            "NVRM: NVLink: link 3 is active",
        ),
    ),
    LogCase(
        rule="GPUPeerMemoryFailedLogged",
        description="a callback without a context",
        events=_lines(
            "nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing",
        ),
        fired=(
            _fired(
                "info",
                "The network cards of gpu-a01 lost their access to the memory of GPUs (nvidia-peermem).",
            ),
        ),
    ),
    LogCase(
        rule="GPUPeerMemoryFailedLogged",
        description="another error of the module, and of another one",
        events=_lines(
            "nvidia-peermem nv_get_p2p_free_callback:127 some other error",
            "drm: invalid context",
        ),
    ),
    LogCase(
        rule="NCCLCrashLogged",
        description="a crash in the library",
        events=_lines(
            "pt_main_thread[2536443]: segfault at 7f797fe00000 ip 00007f7c7ac69996 sp 00007f7c12fd7c30 error 4 in "
            "libnccl.so.2[7f7c7ac00000+d3d3000]",
        ),
        fired=(_fired("warning", "A program on gpu-a01 crashed in NCCL."),),
    ),
    LogCase(
        rule="NCCLCrashLogged",
        description="a crash elsewhere, and another line about the library",
        events=_lines(
            "python3[1]: segfault at 7f797fe00000 ip 00007f7c7ac69996 error 4 in libcuda.so",
            "some other error in libnccl.so",
        ),
    ),
    LogCase(
        rule="NVIDIAUVMMissing",
        description="the hook of the runtime does not find the device",
        events=_lines(
            "nvidia-container-cli: initialization error: stat /dev/nvidia-uvm: no such file or directory",
            "modprobe: FATAL: Module nvidia-uvm not found in directory /lib/modules/5.15.0-131-generic",
            unit="containerd",
        ),
        fired=(_fired("critical", "gpu-a01 cannot start GPU pods: /dev/nvidia-uvm is missing."),),
    ),
    LogCase(
        rule="NVIDIAUVMMissing",
        description="one pod tried to start",
        events=_lines("Running modprobe nvidia-uvm nvidia failed with message", unit="gpu-manager"),
        fired=(_fired("critical", "gpu-a01 cannot start GPU pods: /dev/nvidia-uvm is missing."),),
    ),
    LogCase(
        rule="NVIDIAUVMMissing",
        description="the module is loaded",
        events=_lines("nvidia-uvm: Loaded the UVM driver, major device number 510."),
    ),
    LogCase(
        rule="NVIDIADriverMismatch",
        description="the libraries were updated under the loaded driver",
        events=_lines(
            "Failed to initialize NVML: Driver/library version mismatch", unit="nvidia-device-plugin"
        ),
        fired=(_fired("critical", "The NVIDIA libraries of gpu-a01 do not match its loaded driver."),),
    ),
    LogCase(
        rule="NVIDIADriverMismatch",
        description="NVML cannot start for another reason",
        events=_lines("Failed to initialize NVML: Unknown Error", unit="nvidia-device-plugin"),
    ),
    LogCase(
        rule="NetworkCardHardwareLogged",
        description="too little power in the slot, and a hot cable",
        events=_lines(
            "mlx5_core 0000:5c:00.0: mlx5_pcie_event:299: Detected insufficient power on the PCIe slot (27W).",
            "mlx5_port_module_event:1131:(pid 0): Port module event[error]: module 0, Cable error, High Temperature",
        ),
        fired=(
            _fired("warning", "A network card of gpu-a01 reports a problem of power, cable or temperature."),
        ),
    ),
    LogCase(
        rule="NetworkCardHardwareLogged",
        description="one line about a cable",
        events=_lines("mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, Bus stuck"),
        fired=(
            _fired("warning", "A network card of gpu-a01 reports a problem of power, cable or temperature."),
        ),
    ),
    LogCase(
        rule="NetworkCardHardwareLogged",
        description="monitoring of a restricted port floods the log, and a module was plugged in",
        events=_lines(
            "mlx5_cmd_out_err:838:(pid 1441871): ACCESS_REG(0x805) op_mod(0x1) failed, status bad resource(0x5)",
            "mlx5_core 0000:5c:00.0: Port module event: module 0, Cable plugged",
        ),
    ),
    LogCase(
        rule="CUDAOutOfMemory",
        description="a rank asks for more than the GPU has",
        events=(
            LogEvent(
                text="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", pod=_RANK
            ),
        ),
        fired=(
            _fired(
                "warning",
                "vision-detr/detr-worker-0 ran out of GPU memory.",
                namespace="vision-detr",
                pod="detr-worker-0",
            ),
        ),
    ),
    LogCase(
        rule="CUDAOutOfMemory",
        description="a rank that is out of host memory",
        events=(
            LogEvent(text="MemoryError: Unable to allocate 2.00 GiB for an array with shape (1,)", pod=_RANK),
        ),
    ),
)
