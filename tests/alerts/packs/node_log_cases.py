"""Cases of the rules on kernel, runtime and network logs of nodes."""

from collections.abc import Sequence

from tests.alerts.packs.expected import Fired
from tests.alerts.packs.log_case import LogCase, LogEvent

_HUNG = "INFO: task ceph-msgr:1234 blocked for more than 120 seconds."
_SHIM = (
    'E0302 08:00:00.1 1 remote_runtime.go:222] "StartContainer from runtime service failed" err="rpc error: failed to '
    'create containerd task: failed to create shim task: OCI runtime create failed: hook exited with code 1"'
)
_NO_BLOCKS = (
    'E0302 08:00:00.1 1 pod_workers.go:1301] "Error syncing pod" err="failed to request IPv4 addresses: Assigned 0 out '
    'of 1 requested IPv4 addresses; No more free affine blocks and strict affinity enabled"'
)
_STUCK = "unregister_netdevice: waiting for eth0 to become free. Usage count = 1"


def _fired(severity: str, summary: str, **labels: str) -> Fired:
    return Fired(labels={"node": "gpu-a01", "severity": severity, **labels}, summary=summary)


def _kernel(*texts: str, ago: float = 60, times: int = 1, unit: str = "kernel") -> tuple[LogEvent, ...]:
    return tuple(LogEvent(text=text, ago=ago, times=times, unit=unit, level="warning") for text in texts)


NODE_LOG_CASES: Sequence[LogCase] = (
    LogCase(
        rule="NodeKernelOops",
        description="a null pointer in a driver",
        events=_kernel("BUG: unable to handle kernel NULL pointer dereference at 0000000000000008"),
        fired=(_fired("critical", "The kernel of gpu-a01 crashed in one of its parts."),),
    ),
    LogCase(
        rule="NodeKernelOops",
        description="a soft lockup also begins with BUG, and has a rule of its own",
        events=_kernel("watchdog: BUG: soft lockup - CPU#18 stuck for 27s! [python3:51877]"),
    ),
    LogCase(
        rule="NodeHardwareErrorLogged",
        description="the firmware reports a fatal error",
        events=_kernel("{1}[Hardware Error]: event severity: fatal"),
        fired=(_fired("critical", "The hardware of gpu-a01 reported a fatal error."),),
    ),
    LogCase(
        rule="NodeHardwareErrorLogged",
        description="corrected and recoverable errors are not fatal",
        events=_kernel(
            "{1}[Hardware Error]: event severity: corrected",
            "{2}[Hardware Error]: event severity: recoverable, section is non-fatal",
        ),
    ),
    LogCase(
        rule="NodeFilesystemReadOnlyLogged",
        description="ext4 and XFS stop in their own words",
        events=_kernel(
            "EXT4-fs (sda1): Remounting filesystem read-only",
            "XFS (dm-0): Filesystem has been shut down due to log error (0x2).",
        ),
        fired=(
            _fired("critical", "The kernel of gpu-a01 stopped writing to sda1.", device="sda1"),
            _fired("critical", "The kernel of gpu-a01 stopped writing to dm-0.", device="dm-0"),
        ),
    ),
    LogCase(
        rule="NodeFilesystemReadOnlyLogged",
        description="Btrfs names no device",
        events=_kernel("BTRFS: Remounting filesystem read-only"),
        fired=(_fired("critical", "The kernel of gpu-a01 stopped writing to a file system."),),
    ),
    LogCase(
        rule="NodeFilesystemReadOnlyLogged",
        description="a file system that is mounted to be read is not in trouble",
        events=_kernel(
            "EXT4-fs (rbd3): mounted filesystem 6c1f ro with ordered data mode. Quota mode: none."
        ),
    ),
    LogCase(
        rule="NodeDiskErrorsLogged",
        description="the file system, the block layer and the driver each name the device",
        events=_kernel(
            "EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm ls: reading directory lblock 0",
            "Buffer I/O error on dev sdb, logical block 0, async page read",
            "nvme nvme0: I/O 123 QID 4 timeout, reset controller",
        ),
        fired=tuple(
            _fired("warning", f"The kernel of gpu-a01 logged errors of the disk {device}.", device=device)
            for device in ("sda1", "sdb", "nvme0")
        ),
    ),
    LogCase(
        rule="NodeDiskErrorsLogged",
        description="a driver that starts, and errors that have left the window",
        events=(
            *_kernel("nvme nvme0: 32/0/0 default/read/poll queues"),
            *_kernel("Buffer I/O error on dev sdb, logical block 0, async page read", ago=1200),
        ),
    ),
    LogCase(
        rule="NodeDiskErrorsLogged",
        description="an NVMe controller that dies, a multipath without a path, and a superblock",
        events=_kernel(
            "nvme nvme1: I/O 12 (I/O Cmd) QID 3 timeout, aborting",
            "nvme nvme2: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10",
            "block nvme3n1: no available path - failing I/O",
            "EXT4-fs (dm-0): I/O error while writing superblock",
        ),
        fired=tuple(
            _fired("warning", f"The kernel of gpu-a01 logged errors of the disk {device}.", device=device)
            for device in ("nvme1", "nvme2", "nvme3n1", "dm-0")
        ),
    ),
    LogCase(
        rule="NodeDiskErrorsLogged",
        description="a device that is smaller than its file system, which the line does not name",
        events=_kernel("kworker/u203:1: attempt to access beyond end of device"),
        fired=(_fired("warning", "The kernel of gpu-a01 logged errors of a disk."),),
    ),
    LogCase(
        rule="NodeDiskErrorsLogged",
        description="half of such a line is none",
        events=_kernel(
            "block nvme0n1: no available path",
            "nvme nvme0: I/O timeout",
            "scsi host1: timeout, aborting",
            "eth0: failing I/O",
        ),
    ),
    LogCase(
        rule="NodeDiskLostLogged",
        description="the driver gives up an NVMe disk, an array fails, another loses a disk, and one was never ready",
        events=_kernel(
            "nvme nvme4: Disabling device after reset failure: -19",
            "nvme nvme5: Removing after probe failure status: -19",
            "md/raid10:md2: Disk failure on nvme2n1p1 detected, failing array",
            "md/raid1:md0: Disk failure on sdb1, disabling device.",
        ),
        fired=tuple(
            _fired(
                "critical",
                f"gpu-a01 has lost the disk {device}: its kernel gave it up.",
                device=device,
            )
            for device in ("nvme4", "nvme5", "nvme2n1p1", "sdb1")
        ),
    ),
    LogCase(
        rule="NodeDiskLostLogged",
        description="half of such a line is none",
        events=_kernel(
            "md/raid0: Disk failure detected",
            "usb 1-1: Disabling device after reset failure: -19",
            "usb 1-1: Removing after probe failure status: -19",
            "md: md2: failing array",
            "usb 1-1: disabling device",
            "md0: Disk failure on nothing",
        ),
    ),
    LogCase(
        rule="NodeFileLimitReachedLogged",
        description="no file can be opened",
        events=_kernel("VFS: file-max limit 1000000 reached"),
        fired=(
            _fired(
                "warning",
                "gpu-a01 has as many open files as its kernel permits: nothing there can open another one.",
            ),
        ),
    ),
    LogCase(
        rule="NodeFileLimitReachedLogged",
        description="the limit is only said, and something else reached its own",
        events=_kernel("VFS: file-max limit 1000000", "dquot: limit reached"),
    ),
    LogCase(
        rule="NodeSoftLockup",
        description="the watchdog reports it",
        events=_kernel("watchdog: BUG: soft lockup - CPU#18 stuck for 27s! [python3:51877]"),
        fired=(_fired("critical", "A CPU of gpu-a01 is stuck in the kernel."),),
    ),
    LogCase(
        rule="NodeSoftLockup",
        description="the watchdog only starts",
        events=_kernel("NMI watchdog: Enabled. Permanently consumes one hw-PMU counter."),
    ),
    LogCase(
        rule="NodeTasksHung",
        description="three reports in ten minutes",
        events=_kernel(_HUNG, times=3),
        fired=(_fired("warning", "Processes on gpu-a01 hang in the kernel: 3 reports in 10 minutes."),),
    ),
    LogCase(rule="NodeTasksHung", description="two reports", events=_kernel(_HUNG, times=2)),
    LogCase(
        rule="NodeNetworkDeviceStuck",
        description="the kernel waits for a device again and again",
        events=_kernel(_STUCK, times=3),
        fired=(
            _fired(
                "warning",
                "The kernel of gpu-a01 cannot remove a network device; pods there no longer start or end.",
            ),
        ),
    ),
    LogCase(
        rule="NodeNetworkDeviceStuck", description="it waits for a moment", events=_kernel(_STUCK, times=2)
    ),
    LogCase(
        rule="NodeOutOfMemoryLogged",
        description="the host is out of memory",
        events=_kernel(
            "Out of memory: Killed process 51877 (python3) total-vm:98566144kB, anon-rss:61865984kB"
        ),
        fired=(_fired("critical", "gpu-a01 ran out of memory, and its kernel killed processes."),),
    ),
    LogCase(
        rule="NodeOutOfMemoryLogged",
        description="a container is over its own limit",
        events=_kernel("Memory cgroup out of memory: Killed process 51877 (python3) total-vm:98566144kB"),
    ),
    LogCase(
        rule="ContainerRuntimeErrorsLogged",
        description="five failures",
        events=_kernel(_SHIM, times=5, unit="kubelet"),
        fired=(_fired("warning", "The container runtime of gpu-a01 logged 5 failures in 10 minutes."),),
    ),
    LogCase(
        rule="ContainerRuntimeErrorsLogged",
        description="four failures: one pod with a bad image",
        events=_kernel(_SHIM, times=4, unit="kubelet"),
    ),
    LogCase(
        rule="NodeCannotAssignAddressesLogged",
        description="the kubelet repeats what Calico says",
        events=_kernel(_NO_BLOCKS, times=3, unit="kubelet"),
        fired=(_fired("critical", "gpu-a01 has no address left for new pods: 3 lines in 5 minutes."),),
    ),
    LogCase(
        rule="NodeCannotAssignAddressesLogged",
        description="two lines: the next block was found",
        events=_kernel(_NO_BLOCKS, times=2, unit="kubelet"),
    ),
    LogCase(
        rule="NodeConntrackTableFull",
        description="the kernel drops packets",
        events=_kernel("nf_conntrack: nf_conntrack: table full, dropping packet"),
        fired=(_fired("warning", "gpu-a01 drops packets: its table of connections is full."),),
    ),
    LogCase(
        rule="NodeConntrackTableFull",
        description="the table is only set up",
        events=_kernel("nf_conntrack version 0.5.0 (65536 buckets, 262144 max)"),
    ),
)
