"""Cases of the log rules: lines that fire them, lines that leave them quiet, and why.

The demo writes the lines of each event. Times are seconds before the query.
"""

from collections.abc import Sequence
from dataclasses import replace

from tests.alerts.packs.cluster_log_cases import CLUSTER_LOG_CASES
from tests.alerts.packs.dns_log_cases import DNS_LOG_CASES
from tests.alerts.packs.expected import Fired
from tests.alerts.packs.gpu_log_cases import GPU_LOG_CASES
from tests.alerts.packs.log_case import LogCase, LogEvent
from tests.alerts.packs.node_log_cases import NODE_LOG_CASES
from tests.alerts.packs.storage_log_cases import STORAGE_LOG_CASES

DAY = 86_400.0

_XID = {"pci": "0000:5d:00", "pid": "4711", "busy": "1"}
_FELL = LogEvent(what="xid", gpu=3, facts={**_XID, "xid": "79"})
_IMAGE = {"image": "csi-vol-coco-images", "namespace": "vision-detr", "claim": "coco-images"}
_ERROR = {"component": "kubelet"}
_NEW = {"component": "kubelet", "text": "volume manager lost its desired state of the world"}
_NEW_PATTERN = "manager.go:… volume manager lost its desired state of the world"
_NODES = ("gpu-a01", "gpu-a02", "gpu-b01")

LOG_CASES: Sequence[LogCase] = (
    *DNS_LOG_CASES,
    LogCase(
        rule="GPUXIDLogged",
        description="the kernel reports two XIDs, one of which needs a reset",
        events=(
            LogEvent(what="xid", gpu=3, facts={**_XID, "xid": "48"}),
            LogEvent(what="xid", gpu=3, facts={**_XID, "xid": "48"}, ago=90),
            LogEvent(what="xid", node="gpu-c02", gpu=0, facts={**_XID, "pci": "0000:18:00", "xid": "31"}),
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
        description="a GPU instance is named in the parentheses, and old drivers omit PCI:",
        events=(
            LogEvent(
                text="NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9).",
                level="error",
            ),
            LogEvent(text="NVRM: Xid (0000:03:00): 14, Channel 00000001", node="gpu-a02", level="error"),
        ),
        fired=(
            Fired(
                labels={
                    "node": "gpu-a01",
                    "pci": "0000:01:00",
                    "gi": "05",
                    "xid": "94",
                    "severity": "warning",
                },
                summary="The kernel of gpu-a01 logged XID 94 for the GPU at 0000:01:00.",
            ),
            Fired(
                labels={"node": "gpu-a02", "pci": "0000:03:00", "xid": "14", "severity": "info"},
                summary="The kernel of gpu-a02 logged XID 14 for the GPU at 0000:03:00.",
            ),
        ),
    ),
    LogCase(
        rule="GPUXIDLogged",
        description="an NVLink error says its class, and the driver what it wants",
        events=(
            LogEvent(
                text="NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x0)",
                level="error",
            ),
            LogEvent(
                text="NVRM: Xid (PCI:0009:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 "
                "(Node Reboot Required)",
                level="error",
            ),
        ),
        fired=(
            Fired(
                labels={
                    "node": "gpu-a01",
                    "pci": "0009:01:00",
                    "xid": "149",
                    "class": "Fatal",
                    "severity": "critical",
                },
                summary="The kernel of gpu-a01 logged XID 149 for the GPU at 0009:01:00.",
            ),
            Fired(
                labels={
                    "node": "gpu-a01",
                    "pci": "0009:01:00",
                    "xid": "154",
                    "recovery": "Node Reboot Required",
                    "severity": "critical",
                },
                summary="The kernel of gpu-a01 logged XID 154 for the GPU at 0009:01:00.",
            ),
        ),
    ),
    LogCase(
        rule="GPUXIDLogged",
        description="an XID from ten minutes ago is over, and a line of the device plugin is not from the kernel",
        events=(
            replace(_FELL, ago=600),
            LogEvent(
                text="I0302 08:00:00.1 1 health.go:171] XidCriticalError: Xid=79 on Device=GPU-1; "
                "marking device as unhealthy.",
                unit="nvidia-device-plugin",
            ),
        ),
    ),
    LogCase(
        rule="GPUFellOffBusLogged",
        description="three lines of one fault are one alert",
        events=(_FELL,),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "severity": "critical"},
                summary="A GPU on gpu-a01 has fallen off the bus.",
            ),
        ),
    ),
    LogCase(
        rule="GPUFellOffBusLogged",
        description="an older driver writes one line",
        events=(LogEvent(text="NVRM: GPU 0000:18:00.0: GPU has fallen off the bus."),),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "severity": "critical"},
                summary="A GPU on gpu-a01 has fallen off the bus.",
            ),
        ),
    ),
    LogCase(
        rule="GPUFellOffBusLogged",
        description="another XID, and a USB device that does not respond",
        events=(
            LogEvent(what="xid", gpu=3, facts={**_XID, "xid": "48"}),
            LogEvent(text="usb 1-1: device not responding on the bus", level="warning"),
        ),
    ),
    LogCase(
        rule="ErrorLogBurst",
        description="51 errors of one component, four minutes ago, where the threshold is fifty and ten are usual",
        events=(
            LogEvent(what="component-error", facts=_ERROR, times=51, ago=200),
            *(
                LogEvent(what="component-error", facts=_ERROR, times=10, ago=60 + day * DAY)
                for day in range(1, 8)
            ),
        ),
        fired=(
            Fired(
                labels={"component": "kubelet", "node": "gpu-a01", "severity": "warning"},
                summary="kubelet on gpu-a01 logged 51 errors in 5 minutes, far more than usual.",
            ),
        ),
    ),
    LogCase(
        rule="ErrorLogBurst",
        description="sixty errors are less than four times the usual number at this hour",
        events=(
            LogEvent(what="component-error", facts=_ERROR, times=60),
            *(
                LogEvent(what="component-error", facts=_ERROR, times=20, ago=60 + day * DAY)
                for day in range(1, 8)
            ),
        ),
    ),
    LogCase(
        rule="ErrorLogBurst",
        description="fifty errors are not above the threshold, those before do not count, nor do infos and warnings",
        events=(
            LogEvent(what="component-error", facts=_ERROR, times=50),
            LogEvent(what="component-error", facts=_ERROR, times=40, ago=310),
            LogEvent(text="W0302 08:00:00.1 1 x.go:1] slow", unit="kubelet", level="warning", times=60),
            LogEvent(what="kubelet-start", times=200),
        ),
    ),
    LogCase(
        rule="NeverSeenError",
        description="five lines, four minutes ago, with a pattern that is new within the week",
        events=(
            LogEvent(what="component-log", facts=_NEW, times=5, ago=240),
            LogEvent(what="component-error", facts=_ERROR, times=30),
            LogEvent(what="component-error", facts=_ERROR, ago=2 * DAY),
        ),
        fired=(
            Fired(
                labels={
                    "component": "kubelet",
                    "node": "gpu-a01",
                    "pattern": _NEW_PATTERN,
                    "severity": "warning",
                },
                summary="New error of kubelet on gpu-a01.",
            ),
        ),
    ),
    LogCase(
        rule="NeverSeenError",
        description="the same new pattern on three nodes is one thing; a fourth has too few lines of it",
        events=(
            *(LogEvent(what="component-log", facts=_NEW, node=node, times=5) for node in _NODES),
            LogEvent(what="component-log", facts=_NEW, node="gpu-b02", times=2),
        ),
        fired=(
            Fired(
                labels={"component": "kubelet", "pattern": _NEW_PATTERN, "severity": "warning"},
                summary="New error of kubelet on several nodes.",
            ),
        ),
    ),
    LogCase(
        rule="NeverSeenError",
        description="the pattern was logged five days ago on another node",
        events=(
            LogEvent(what="component-log", facts=_NEW, times=9),
            LogEvent(what="component-log", facts=_NEW, node="gpu-b01", ago=5 * DAY),
        ),
    ),
    LogCase(
        rule="NeverSeenError",
        description="four lines are not above the threshold, and warnings are not errors",
        events=(
            LogEvent(what="component-log", facts=_NEW, times=4),
            LogEvent(
                text="W0302 08:00:00.1 1 x.go:1] reading the image filesystem took long",
                unit="containerd",
                level="warning",
                times=9,
            ),
        ),
    ),
    LogCase(
        rule="NeverSeenError",
        description="four lines, and four that are older",
        events=(
            LogEvent(what="component-log", facts=_NEW, times=4),
            LogEvent(what="component-log", facts=_NEW, times=4, ago=310),
        ),
    ),
    LogCase(
        rule="VolumeUnmapFailed",
        description="the phrase is on the second line of the record, and older kubelets log only the first phrase",
        events=(
            LogEvent(what="unmap-failed", facts=_IMAGE),
            LogEvent(
                text="E0302 08:00:00.1 1 x.go:1] rbd: failed to unmap device /dev/rbd10, error exit status 16, "
                "rbd output: [114 98 100 58 32 117 110 109 97 112]",
                unit="kubelet",
                node="gpu-a02",
                level="error",
            ),
        ),
        fired=tuple(
            Fired(
                labels={"node": name, "severity": "warning", **names},
                summary=f"{name} cannot unmap a volume: its mount is still in use.",
            )
            for name, names in (
                ("gpu-a01", {"volume": "csi-vol-coco-images", "device": "/dev/rbd1"}),
                ("gpu-a02", {"device": "/dev/rbd10"}),
            )
        ),
    ),
    LogCase(
        rule="VolumeUnmapFailed",
        description="a volume that cannot be mapped has no data at risk yet",
        events=(
            LogEvent(
                text="rbd: map failed with error exit status 6, rbd output: rbd: sysfs write failed",
                unit="kubelet",
            ),
        ),
    ),
    LogCase(
        rule="VolumeAboutToBeFormatted",
        description="the kubelet cannot mount a block device",
        events=(LogEvent(what="mount-failed", facts=_IMAGE),),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "severity": "critical", "device": "/dev/rbd1"},
                summary="gpu-a01 cannot read a volume's file system: the next attempt may format it.",
            ),
        ),
    ),
    LogCase(
        rule="VolumeAboutToBeFormatted",
        description="for CephFS the same message means that its servers do not answer; nothing formats it",
        events=(
            LogEvent(
                text="E0302 08:00:00.1 1 utils.go:1] mount: /var/lib/kubelet/pods/1/globalmount: can't read superblock "
                "on 10.99.61.167:6789,10.98.7.1:6789:/volumes/csi/x.",
                unit="kubelet",
                level="error",
            ),
        ),
    ),
    LogCase(
        rule="VolumeFormatted",
        description="the kubelet announces it at level info",
        events=(LogEvent(what="format", facts=_IMAGE),),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "severity": "info", "device": "/dev/rbd1"},
                summary="The kubelet on gpu-a01 is formatting a volume.",
            ),
        ),
    ),
    LogCase(
        rule="VolumeFormatted",
        description="a mount that does not format because it is read-only has lost nothing",
        events=(
            LogEvent(
                text="E0302 08:00:00.1 1 mount_linux.go:1] cannot mount unformatted disk /dev/rbd1 as we are "
                "manipulating it in read-only mode",
                unit="kubelet",
                level="error",
            ),
        ),
    ),
    LogCase(
        rule="VolumeMountFailed",
        description="the line names the volume, and one of our CSI drivers the claim too",
        events=(
            LogEvent(what="mount-failed", facts=_IMAGE),
            LogEvent(
                text='E0302 08:00:00.1 1 nestedpendingoperations.go:348] Operation for "{volumeName:x}" failed. Error: '
                'MountVolume.MountDevice failed for volume "pvc-1" (UniqueName: "kubernetes.io/csi/x") '
                'pod "writer-0" (UID: "2") : rpc error: code = Internal',
                unit="kubelet",
                node="gpu-a02",
                level="error",
            ),
        ),
        fired=tuple(
            Fired(
                labels={"node": name, "severity": "info", **names},
                summary=f"{name} cannot mount {names['volume']}.",
            )
            for name, names in (
                ("gpu-a01", {"volume": "csi-vol-coco-images", "claim": "vision-detr/coco-images"}),
                ("gpu-a02", {"volume": "pvc-1"}),
            )
        ),
    ),
    LogCase(
        rule="VolumeMountFailed",
        description="a ConfigMap that is not there is no device",
        events=(
            LogEvent(
                text='MountVolume.SetUp failed for volume "config" : configmap "x" not found',
                unit="kubelet",
                level="error",
            ),
        ),
    ),
    *NODE_LOG_CASES,
    *CLUSTER_LOG_CASES,
    *GPU_LOG_CASES,
    *STORAGE_LOG_CASES,
)
