"""This file has the cases of log rules: what fires them, what leaves them quiet, and why.

What happened is written by the demo's own writers of log lines. Moments are seconds before the look.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from demo.world.logs.line import Line
from demo.world.logs.lines import lines_of
from demo.world.state import Happening, State
from tests.alerts.packs.fired import Fired
from tests.support.objects import NOW

DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Something that happened `ago` seconds before the look, `times` times a second apart; or a line as it is."""

    what: str = ""
    ago: float = 60
    times: int = 1
    node: str = "gpu-a01"
    gpu: int | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    text: str = ""  # in the place of `what`: a line that the demo has no writer for
    unit: str = "kernel"
    level: str = "info"

    def lines(self, state: State) -> list[Line]:
        found: list[Line] = []
        for number in range(self.times):
            at = NOW - timedelta(seconds=self.ago + number)
            if self.text:
                found.append(Line(at=at, text=self.text, level=self.level, node=self.node, unit=self.unit))
            else:
                happened = Happening(
                    at=at, what=self.what, node=self.node, gpu=self.gpu, facts=dict(self.facts)
                )
                found += lines_of(happened, state)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCase:
    rule: str
    why: str
    said: tuple[Said, ...]
    fired: tuple[Fired, ...] = ()  # none: it stays quiet


_XID = {"pci": "0000:5d:00", "pid": "4711", "busy": "1"}
_FELL = Said(what="xid", gpu=3, facts={**_XID, "xid": "79"})
_IMAGE = {"image": "csi-vol-coco-images", "namespace": "vision-detr", "claim": "coco-images"}
_ERROR = {"component": "kubelet"}
_NEW = {"component": "kubelet", "text": "volume manager lost its desired state of the world"}
_NEW_PATTERN = "manager.go:<*> volume manager lost its desired state of the world"

LOG_CASES: Sequence[LogCase] = (
    LogCase(
        rule="GPUXIDLogged",
        why="the kernel reports two numbers, one of which needs a reset",
        said=(
            Said(what="xid", gpu=3, facts={**_XID, "xid": "48"}),
            Said(what="xid", gpu=3, facts={**_XID, "xid": "48"}, ago=90),
            Said(what="xid", node="gpu-c02", gpu=0, facts={**_XID, "pci": "0000:18:00", "xid": "31"}),
        ),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "pci": "0000:5d:00", "xid": "48", "severity": "critical"},
                summary="The kernel of gpu-a01 logged XID 48 for the GPU at 0000:5d:00.",
            ),
            Fired(
                labels={"node": "gpu-c02", "pci": "0000:18:00", "xid": "31", "severity": "info"},
                summary="The kernel of gpu-c02 logged XID 31 for the GPU at 0000:18:00.",
            ),
        ),
    ),
    LogCase(
        rule="GPUXIDLogged",
        why="a slice of a GPU is named in the brackets, and old drivers write no PCI:",
        said=(
            Said(
                text="NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9).",
                level="error",
            ),
            Said(text="NVRM: Xid (0000:03:00): 14, Channel 00000001", node="gpu-a02", level="error"),
        ),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "pci": "0000:01:00", "xid": "94", "severity": "warning"},
                summary="The kernel of gpu-a01 logged XID 94 for the GPU at 0000:01:00.",
            ),
            Fired(
                labels={"node": "gpu-a02", "pci": "0000:03:00", "xid": "14", "severity": "warning"},
                summary="The kernel of gpu-a02 logged XID 14 for the GPU at 0000:03:00.",
            ),
        ),
    ),
    LogCase(
        rule="GPUXIDLogged",
        why="an XID of ten minutes ago is over, and the device plugin's own words are not the kernel's",
        said=(
            replace(_FELL, ago=600),
            Said(
                text="I0302 08:00:00.1 1 health.go:171] XidCriticalError: Xid=79 on Device=GPU-1; "
                "marking device as unhealthy.",
                unit="nvidia-device-plugin",
            ),
        ),
    ),
    LogCase(
        rule="GPUFellOffBusLogged",
        why="three lines of one fault are one alert",
        said=(_FELL,),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "severity": "critical"},
                summary="A GPU of gpu-a01 has fallen off the bus.",
            ),
        ),
    ),
    LogCase(
        rule="GPUFellOffBusLogged",
        why="another XID, and a bus that something else fell off",
        said=(
            Said(what="xid", gpu=3, facts={**_XID, "xid": "48"}),
            Said(text="usb 1-1: device not responding on the bus", level="warning"),
        ),
    ),
    LogCase(
        rule="ErrorLogBurst",
        why="sixty errors of one component where fifty are too many and five are usual",
        said=(
            Said(what="component-error", facts=_ERROR, times=60),
            *(Said(what="component-error", facts=_ERROR, times=5, ago=60 + day * DAY) for day in (1, 2, 3)),
        ),
        fired=(
            Fired(
                labels={"component": "kubelet.service", "node": "gpu-a01", "severity": "warning"},
                summary="kubelet.service on gpu-a01 logged 60 errors in 5 minutes, far above its usual.",
            ),
        ),
    ),
    LogCase(
        rule="ErrorLogBurst",
        why="sixty are not four times what this hour always has",
        said=(
            Said(what="component-error", facts=_ERROR, times=60),
            *(
                Said(what="component-error", facts=_ERROR, times=20, ago=60 + day * DAY)
                for day in range(1, 8)
            ),
        ),
    ),
    LogCase(
        rule="ErrorLogBurst",
        why="forty are few, however rare they are; and lines at info are not errors",
        said=(
            Said(what="component-error", facts=_ERROR, times=40),
            Said(what="kubelet-start", times=200),
        ),
    ),
    LogCase(
        rule="NeverSeenError",
        why="five lines of a kind that the week does not know",
        said=(
            Said(what="component-says", facts=_NEW, times=5),
            Said(what="component-error", facts=_ERROR, times=30),
            Said(what="component-error", facts=_ERROR, ago=2 * DAY),
        ),
        fired=(
            Fired(
                labels={
                    "component": "kubelet.service",
                    "node": "gpu-a01",
                    "pattern": _NEW_PATTERN,
                    "severity": "warning",
                },
                summary=f"kubelet.service on gpu-a01 logs an error never seen before: {_NEW_PATTERN}",
            ),
        ),
    ),
    LogCase(
        rule="NeverSeenError",
        why="it was there three days ago, on another node",
        said=(
            Said(what="component-says", facts=_NEW, times=9),
            Said(what="component-says", facts=_NEW, node="gpu-b01", ago=3 * DAY),
        ),
    ),
    LogCase(
        rule="NeverSeenError",
        why="four lines are too few to wake anybody",
        said=(Said(what="component-says", facts=_NEW, times=4),),
    ),
    LogCase(
        rule="VolumeUnmapFailed",
        why="the words stand on the second line of the record, and older kubelets have only the first of them",
        said=(
            Said(what="unmap-failed", facts=_IMAGE),
            Said(
                text="E0302 08:00:00.1 1 x.go:1] rbd: failed to unmap device /dev/rbd10, error exit status 16, "
                "rbd output: [114 98 100 58 32 117 110 109 97 112]",
                unit="kubelet",
                node="gpu-a02",
                level="error",
            ),
        ),
        fired=tuple(
            Fired(
                labels={"node": name, "severity": "warning"},
                summary=f"{name} cannot unmap a volume: something still holds its mount.",
            )
            for name in ("gpu-a01", "gpu-a02")
        ),
    ),
    LogCase(
        rule="VolumeUnmapFailed",
        why="a volume that cannot be mapped has no data in danger yet",
        said=(
            Said(
                text="rbd: map failed with error exit status 6, rbd output: rbd: sysfs write failed",
                unit="kubelet",
            ),
        ),
    ),
    LogCase(
        rule="VolumeAboutToBeFormatted",
        why="the kubelet cannot mount a block device",
        said=(Said(what="mount-failed", facts=_IMAGE),),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "severity": "critical"},
                summary="gpu-a01 cannot read a volume's file system: the next try may format it.",
            ),
        ),
    ),
    LogCase(
        rule="VolumeAboutToBeFormatted",
        why="for CephFS the same words mean that its servers do not answer; nothing formats that",
        said=(
            Said(
                text="E0302 08:00:00.1 1 utils.go:1] mount: /var/lib/kubelet/pods/1/globalmount: can't read superblock "
                "on 10.99.61.167:6789,10.98.7.1:6789:/volumes/csi/x.",
                unit="kubelet",
                level="error",
            ),
        ),
    ),
    LogCase(
        rule="VolumeFormatted",
        why="the announcement is a line at info",
        said=(Said(what="format", facts=_IMAGE),),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "severity": "info"},
                summary="The kubelet of gpu-a01 formats a volume.",
            ),
        ),
    ),
    LogCase(
        rule="VolumeFormatted",
        why="a mount that refuses to format because it may only read has lost nothing",
        said=(
            Said(
                text="E0302 08:00:00.1 1 mount_linux.go:1] cannot mount unformatted disk /dev/rbd1 as we are "
                "manipulating it in read-only mode",
                unit="kubelet",
                level="error",
            ),
        ),
    ),
)
