"""Cases of the rules on volumes, claims and the pods that use them, as the API shows it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from collectors.cluster.base import KubernetesObject
from collectors.cluster.objects import (
    Event,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    VolumeAttachment,
)
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.support.objects import NOW, container, inventory, owned, pod, read


def a_volume(
    claim: str = "vision/ckpt",
    *,
    handle: str = "h-1",
    modes: Sequence[str] = ("ReadWriteOnce",),
    driver: str = "rbd.csi.ceph.com",
    phase: str = "Bound",
) -> tuple[PersistentVolume, PersistentVolumeClaim]:
    """Return a volume and its claim; volumes with one handle are one image."""
    namespace, _, name = claim.partition("/")
    volume = {
        "metadata": {"name": f"pv-{name}"},
        "spec": {
            "accessModes": list(modes),
            "volumeMode": "Filesystem",
            "claimRef": {"namespace": namespace, "name": name},
            "csi": {"driver": driver, "volumeHandle": handle},
        },
        "status": {"phase": phase},
    }
    return read(PersistentVolume, volume), a_claim(claim, volumeName=f"pv-{name}", accessModes=list(modes))


def a_claim(name: str = "vision/ckpt", phase: str = "Bound", **parts: Any) -> PersistentVolumeClaim:
    namespace, _, own = name.partition("/")
    meta = {
        "name": own,
        "namespace": namespace,
        "creationTimestamp": (NOW - timedelta(minutes=20)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "annotations": parts.pop("annotations", {}),
    }
    return read(PersistentVolumeClaim, {"metadata": meta, "spec": parts, "status": {"phase": phase}})


def a_class(name: str, mode: str, *, is_default: bool = False) -> StorageClass:
    marks = {"storageclass.kubernetes.io/is-default-class": "true"} if is_default else {}
    return read(StorageClass, {"metadata": {"name": name, "annotations": marks}, "volumeBindingMode": mode})


def attached(node: str, volume: str = "pv-ckpt") -> VolumeAttachment:
    spec = {"attacher": "x", "nodeName": node, "source": {"persistentVolumeName": volume}}
    tree = {"metadata": {"name": f"{volume}-{node}"}, "spec": spec, "status": {"attached": True}}
    return read(VolumeAttachment, tree)


def a_user(
    name: str, node: str, *, claim: str = "vision/ckpt", reads: bool = False, phase: str = "Running"
) -> Pod:
    namespace, _, own = claim.partition("/")
    source = {"claimName": own, "readOnly": reads}
    volumes = [{"name": "v", "persistentVolumeClaim": source}]
    return pod(name, namespace, spec={"nodeName": node, "volumes": volumes}, status={"phase": phase})


def an_exporter(propagation: str, path: str = "/", *, node: str = "gpu-a01", owner: str = "exporter") -> Pod:
    mount = {"name": "root", "mountPath": "/host", "mountPropagation": propagation}
    return pod(
        f"exporter-{node}",
        "monitoring",
        spec={
            "nodeName": node,
            "volumes": [{"name": "root", "hostPath": {"path": path}}],
            "containers": [{**container(), "volumeMounts": [mount]}],
        },
        ownerReferences=owned("DaemonSet", owner) if owner else [],
    )


def _refused(claim: str) -> Event:
    return read(
        Event,
        {
            "metadata": {"name": "e", "namespace": "vision"},
            "involvedObject": {"kind": "PersistentVolumeClaim", "name": claim},
            "reason": "ProvisioningFailed",
            "message": "no space",
            "lastTimestamp": NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
        },
    )


def _case(rule: str, description: str, *things: KubernetesObject, fired: Sequence[Fired] = ()) -> CheckCase:
    return CheckCase(
        rule=rule, description=description, inputs=check_input(inventory(*things)), fired=tuple(fired)
    )


_CKPT = {"namespace": "vision", "persistentvolumeclaim": "ckpt"}
_IMMEDIATE, _LATER = a_class("now", "Immediate"), a_class("later", "WaitForFirstConsumer", is_default=True)


def _failing(message: str, count: int, *, reason: str = "FailedMount", minutes: float = 1) -> Event:
    def stamp(ago: float) -> str:
        return (NOW - timedelta(minutes=ago)).strftime("%Y-%m-%dT%H:%M:%SZ")

    tree = {
        "metadata": {"name": f"train-0.{count}", "namespace": "vision"},
        "involvedObject": {"kind": "Pod", "namespace": "vision", "name": "train-0"},
        "source": {"component": "kubelet", "host": "gpu-a01"},
        "reason": reason,
        "message": message,
        "count": count,
        "firstTimestamp": stamp(minutes + 8),
        "lastTimestamp": stamp(minutes),
    }
    return read(Event, tree)


_MULTI = 'Multi-Attach error for volume "pv-ckpt" Volume is already exclusively attached to one node'
_STAGE = 'MountVolume.MountDevice failed for volume "pv-ckpt" : rpc error: code = DeadlineExceeded'
_PUBLISH = 'MountVolume.SetUp failed for volume "pv-ckpt" : rpc error: code = Internal desc = mount failed'
_NO_CONFIG = 'MountVolume.SetUp failed for volume "config" : configmap "x" not found'


def _pending(name: str = "ckpt", *texts: str) -> Fired:
    return Fired(
        labels={"namespace": "vision", "persistentvolumeclaim": name, "severity": "warning"},
        summary=f"vision/{name} gets no volume.",
        texts=texts,
    )


def _on_node(severity: str, summary: str) -> Fired:
    return Fired(labels={"node": "gpu-a01", "severity": severity}, summary=summary)


_HELD = _on_node("info", "A container on gpu-a01 mounts the host's root privately and keeps volumes busy.")
_EXPORTER = Fired(
    labels={"namespace": "monitoring", "daemonset": "exporter", "severity": "warning"},
    summary="exporter in monitoring mounts the host's root privately.",
)
_TWICE = Fired(
    labels={**_CKPT, "severity": "warning"},
    summary="vision/ckpt is written while another pod or node uses its image.",
)

STORAGE_CHECK_CASES: Sequence[CheckCase] = (
    _case(
        "VolumeMountFailing",
        "its driver fails three times",
        _failing(_STAGE, 3),
        fired=(_on_node("warning", "Pods on gpu-a01 do not get a volume: 3 failures in 10 minutes."),),
    ),
    _case(
        "VolumeMountFailing",
        "its driver cannot give it to the pod",
        _failing(_PUBLISH, 3),
        fired=(_on_node("warning", "Pods on gpu-a01 do not get a volume: 3 failures in 10 minutes."),),
    ),
    _case(
        "VolumeMountFailing",
        "it stays attached to another node",
        _failing(_MULTI, 3, reason="FailedAttachVolume"),
        fired=(_on_node("warning", "Pods on gpu-a01 do not get a volume: 3 failures in 10 minutes."),),
    ),
    _case("VolumeMountFailing", "a pod that moves", _failing(_MULTI, 2, reason="FailedAttachVolume")),
    _case("VolumeMountFailing", "a ConfigMap is missing", _failing(_NO_CONFIG, 30)),
    _case("VolumeMountFailing", "it is a while ago", _failing(_STAGE, 60, minutes=10.5)),
    _case(
        "HostRootMountPrivate",
        "a pod without a controller",
        *a_volume(),
        an_exporter("", owner=""),
        fired=(
            Fired(
                labels={"namespace": "monitoring", "pod": "exporter-gpu-a01", "severity": "warning"},
                summary="exporter-gpu-a01 in monitoring mounts the host's root privately.",
            ),
        ),
    ),
    _case(
        "VolumeClaimPending",
        "a class that binds at once has no volume for it",
        a_claim(phase="Pending", storageClassName="now"),
        _refused("ckpt"),
        _IMMEDIATE,
        fired=(_pending("ckpt", "ProvisioningFailed: no space"),),
    ),
    _case(
        "VolumeClaimPending",
        "its pod is placed, and its class is not there or is none",
        a_claim("vision/a", "Pending", annotations={"volume.kubernetes.io/selected-node": "gpu-a01"}),
        a_claim("vision/b", "Pending", storageClassName="gone"),
        a_claim("vision/c", "Pending", storageClassName=""),
        _LATER,
        fired=(_pending("a"), _pending("b"), _pending("c")),
    ),
    _case(
        "VolumeClaimPending",
        "a class that waits for a pod leaves a claim pending by design",
        a_claim("vision/a", "Pending", storageClassName="later"),
        a_claim("vision/b", "Pending"),
        a_claim("vision/c"),
        _LATER,
        _IMMEDIATE,
    ),
    _case(
        "VolumeClaimLost",
        "the volume is gone",
        a_claim(phase="Lost", volumeName="pv-gone"),
        fired=(
            Fired(
                labels={**_CKPT, "severity": "critical"},
                summary="The volume of vision/ckpt is gone or has failed.",
            ),
        ),
    ),
    _case(
        "VolumeClaimLost",
        "the volume has failed",
        *a_volume(phase="Failed"),
        fired=(
            Fired(
                labels={**_CKPT, "severity": "critical"},
                summary="The volume of vision/ckpt is gone or has failed.",
            ),
        ),
    ),
    _case("VolumeClaimLost", "bound claims have theirs", *a_volume()),
    _case(
        "KubePersistentVolumeErrors",
        "it could not be deleted after its claim",
        a_volume(phase="Failed")[0],
        fired=(
            Fired(
                labels={"persistentvolume": "pv-ckpt", "severity": "warning"},
                summary="Volume pv-ckpt has failed, and its claim is gone.",
                texts=("pv-ckpt",),
            ),
        ),
    ),
    _case("KubePersistentVolumeErrors", "its claim is there: another alert", *a_volume(phase="Failed")),
    _case("KubePersistentVolumeErrors", "it is kept on purpose", a_volume(phase="Released")[0]),
    *(
        case
        for rule, alert in (("HostRootMountPrivate", _EXPORTER), ("VolumeHeldByPrivateMount", _HELD))
        for case in (
            _case(rule, "unset propagation is private", *a_volume(), an_exporter(""), fired=(alert,)),
            _case(
                rule,
                "the kubelet's folder is enough",
                *a_volume(),
                an_exporter("None", "/var/lib/kubelet/"),
                fired=(alert,),
            ),
            _case(rule, "the host's unmounts reach it", *a_volume(), an_exporter("HostToContainer")),
            _case(rule, "both see the other's mounts", *a_volume(), an_exporter("Bidirectional")),
            _case(rule, "another folder holds no volume", *a_volume(), an_exporter("", "/proc")),
            _case(
                rule,
                "no volume of the cluster is ever formatted",
                *a_volume(modes=("ReadWriteMany",), driver="cephfs.csi.ceph.com"),
                an_exporter(""),
            ),
        )
    ),
    _case(
        "VolumeUsedTwice",
        "a reader on another node",
        *a_volume(),
        a_user("writer", "gpu-a01"),
        a_user("eval", "gpu-a02", reads=True),
        a_user("later", "", reads=True, phase="Pending"),
        attached("gpu-a01"),
        attached("gpu-a03"),
        fired=(
            replace(
                _TWICE,
                texts=(
                    "vision/eval reads on gpu-a02, vision/later reads on no node yet, vision/writer writes on gpu-a01, "
                    "attached to gpu-a03",
                ),
            ),
        ),
    ),
    _case(
        "VolumeUsedTwice",
        "another node holds the image without a pod",
        *a_volume(),
        a_user("writer", "gpu-a01"),
        attached("gpu-a02"),
        fired=(_TWICE,),
    ),
    _case(
        "VolumeUsedTwice",
        "another claim of the same image, on the same node",
        *a_volume(),
        *a_volume("speech/again"),
        a_user("writer", "gpu-a01"),
        a_user("eval", "gpu-a01", claim="speech/again", reads=True),
        fired=(_TWICE,),
    ),
    _case(
        "VolumeUsedTwice",
        "one writer, many readers, a file system of many writers",
        *a_volume(),
        a_user("writer", "gpu-a01"),
        attached("gpu-a01"),
        *a_volume("vision/coco", handle="h-2", modes=("ReadOnlyMany",)),
        a_user("r-1", "gpu-a01", claim="vision/coco"),
        a_user("r-2", "gpu-a02", claim="vision/coco"),
        *a_volume("vision/shared", handle="h-3", modes=("ReadWriteMany",)),
        a_user("w-1", "gpu-a01", claim="vision/shared"),
        a_user("w-2", "gpu-a02", claim="vision/shared"),
        a_user("over", "gpu-a02", phase="Succeeded"),
    ),
    _case(
        "VolumeOnTwoNodes",
        "both nodes are named",
        *a_volume(),
        a_user("writer", "gpu-a01"),
        attached("gpu-a01"),
        attached("gpu-a02"),
        fired=tuple(
            Fired(
                labels={"node": node, "severity": "info"},
                summary=f"A volume on {node} is written, and held by another node too.",
            )
            for node in ("gpu-a01", "gpu-a02")
        ),
    ),
    _case("VolumeOnTwoNodes", "one node", *a_volume(), a_user("writer", "gpu-a01"), attached("gpu-a01")),
    _case(
        "VolumeOnTwoNodes",
        "two claims of one image on one node, and an image that is only read on two",
        *a_volume(),
        *a_volume("speech/again"),
        a_user("writer", "gpu-a01"),
        a_user("eval", "gpu-a01", claim="speech/again", reads=True),
        *a_volume("vision/coco", handle="h-2"),
        a_user("r-1", "gpu-a01", claim="vision/coco", reads=True),
        a_user("r-2", "gpu-a02", claim="vision/coco", reads=True),
    ),
    _case(
        "VolumeWriterWaiting",
        "it is placed and does not start",
        *a_volume(),
        a_user("writer", "gpu-a01", phase="Pending"),
        fired=(_on_node("info", "A pod that writes to a volume waits on gpu-a01."),),
    ),
    _case(
        "VolumeWriterWaiting",
        "a reader waits, a writer runs, and one is not placed",
        *a_volume(),
        a_user("eval", "gpu-a01", reads=True, phase="Pending"),
        a_user("writer", "gpu-a01"),
        a_user("queued", "", phase="Pending"),
    ),
)
