"""Cases of the log rules about volumes, Ceph, NFS and HDFS, besides those that follow one volume to its formatting."""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.alerts.packs.expected import Fired
from tests.alerts.packs.log_case import LogCase, LogEvent

_IMAGE = {"image": "csi-vol-coco-images", "namespace": "vision-detr", "claim": "coco-images"}


def _kubelet(text: str, **more: Any) -> LogEvent:
    return LogEvent(
        text=f"E0302 08:00:00.1 1 x.go:1] {text}", **{"unit": "kubelet", "level": "error", **more}
    )


def _on(summary: str, severity: str, **labels: str) -> Fired:
    return Fired(labels={"node": "gpu-a01", "severity": severity, **labels}, summary=summary)


def _cases(
    rule: str, fired: Fired, fires: Sequence[tuple[str, LogEvent]], quiet: tuple[str, LogEvent]
) -> Iterator[LogCase]:
    """One case for each event that fires the alert, and one that leaves it quiet."""
    for why, event in fires:
        yield LogCase(rule=rule, description=why, events=(event,), fired=(fired,))
    yield LogCase(rule=rule, description=quiet[0], events=(quiet[1],))


_CEPHFS = "mount: /x/globalmount: can't read superblock on 10.99.61.167:6789,10.98.7.1:6789:/volumes/csi/x."
STORAGE_LOG_CASES: tuple[LogCase, ...] = (
    *_cases(
        "VolumeProbeFailed",
        _on(
            "The kubelet on gpu-a01 found no file system on a volume, and has not formatted it.",
            "warning",
            device="/dev/rbd1",
        ),
        (
            (
                "a reader's mount of a disk without a file system",
                _kubelet(
                    "cannot mount unformatted disk /dev/rbd1 as we are manipulating it in read-only mode"
                ),
            ),
            ("the probe failed", _kubelet("failed to get disk format of disk /dev/rbd1: exit status 4")),
        ),
        ("a disk that is formatted is another alert", LogEvent(what="format", facts=_IMAGE)),
    ),
    *_cases(
        "VolumeStillMounted",
        _on("A volume of a pod that has ended is still mounted on gpu-a01.", "warning"),
        (
            (
                "the kubelet finds paths of a pod that is gone",
                _kubelet('orphaned pod "4-5" found, but volume paths are still present on disk'),
            ),
        ),
        ("volumes that are cleaned up", _kubelet('Cleaned up orphaned pod volumes dir podUID="4-5"')),
    ),
    *_cases(
        "VolumeMapFailed",
        _on("gpu-a01 could not get a volume 3 times in ten minutes.", "warning"),
        (
            (
                "it cannot be mapped",
                _kubelet(
                    "rbd: map failed with error exit status 6, rbd output: rbd: sysfs write failed", times=3
                ),
            ),
            (
                "another node has it",
                _kubelet(
                    'Multi-Attach error for volume "pvc-1" Volume is already exclusively attached', times=3
                ),
            ),
            (
                "an attempt that does not end",
                _kubelet("an operation with the given Volume ID 0001-x already exists", times=3),
            ),
        ),
        (
            "a slow first attempt",
            _kubelet("an operation with the given Volume ID 0001-x already exists", times=2),
        ),
    ),
    *_cases(
        "CephFSMountFailed",
        _on("gpu-a01 cannot mount CephFS: its servers do not answer.", "critical", component="ceph"),
        (
            ("a superblock that no server sends", _kubelet(_CEPHFS)),
            ("a timeout", _kubelet("mount error(110): timed out")),
        ),
        (
            "the same about a block device is a danger for its data",
            _kubelet("mount: /x/globalmount: can't read superblock on /dev/rbd1."),
        ),
    ),
    *_cases(
        "CephFSClientRefused",
        _on("Ceph refuses gpu-a01: every CephFS mount on it fails.", "critical"),
        (
            ("the node is blocklisted", LogEvent(text="ceph: mds0 session blocklisted")),
            ("the server has too many clients", LogEvent(text="ceph: mds0 rejected session")),
        ),
        ("a session that is found again", LogEvent(text="ceph: mds0 reconnect success")),
    ),
    *_cases(
        "CephClientSessionLost",
        _on("gpu-a01 loses its connection to Ceph again and again.", "warning", component="ceph"),
        (
            (
                "the kernel says so at level info",
                LogEvent(text="libceph: mon0 10.0.9.1:6789 session lost, hunting for new mon", times=4),
            ),
        ),
        (
            "each of three monitors restarts",
            LogEvent(text="libceph: mon0 10.0.9.1:6789 session lost, hunting for new mon", times=3),
        ),
    ),
    *_cases(
        "NFSServerNotResponding",
        _on(
            "The NFS server 10.0.9.20 does not answer gpu-a01.",
            "critical",
            component="nfs",
            server="10.0.9.20",
        ),
        (("the kernel waits", LogEvent(text="nfs: server 10.0.9.20 not responding, still trying")),),
        ("the server is back", LogEvent(text="nfs: server 10.0.9.20 OK")),
    ),
    *_cases(
        "NFSClientFailingLogged",
        _on("The NFS client of gpu-a01 cannot write back, or has lost its locks.", "warning"),
        (
            ("its locks", LogEvent(text="nfs4_reclaim_open_state: Lock reclaim failed!")),
            ("a trace", LogEvent(text=" nfs_lock_and_join_requests+0x61/0x2b0 [nfs]")),
        ),
        ("another frame", LogEvent(text=" nfs_xxx_other+0x12/0x340 [nfs]")),
    ),
    *_cases(
        "HDFSSafeMode",
        _on("HDFS is in safe mode: nothing can be written.", "critical", component="hdfs"),
        (
            (
                "a client's write is refused",
                LogEvent(text="SafeModeException: Cannot create file /ckpt/7. Name node is in safe mode."),
            ),
        ),
        ("it leaves it after a start", LogEvent(text="STATE* Leaving safe mode after 31 secs")),
    ),
)
