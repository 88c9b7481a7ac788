"""Cases of the checks of workloads with GPUs that are no trainings."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from collectors.cluster.objects import Event, Pod
from collectors.trainings.training import Rank, Training, TrainingState
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.alerts.packs.refused_check_cases import REFUSED_CASES
from tests.support.objects import NOW, container, gpus, inventory, node, owned, pod, read

_PYTORCH = [{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "resnet", "uid": "u"}]


def _waiting(name: str, owners: Sequence[Any] = (), **parts: Any) -> Pod:
    spec = {"containers": [gpus(4)], **parts.pop("spec", {})}
    return pod(
        name,
        "vision",
        spec=spec,
        status={"phase": "Pending"},
        ownerReferences=list(owners),
        creationTimestamp="2026-11-21T02:40:00Z",
        **parts,
    )


_TRAINING = Training(
    id="vision/detr",
    kind="Job",
    namespace="vision",
    name="detr",
    state=TrainingState.QUEUED,
    ranks=(Rank(role="worker", index=0, pod="rank"),),
)


def _stamp(minutes: float) -> str:
    return f"{NOW - timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}"


def _held(reason: str, message: str = "") -> dict[str, Any]:
    """Return the status of a pod whose container waits for this reason."""
    state = {"waiting": {"reason": reason, "message": message}}
    statuses = [{"name": "main", "restartCount": 0, "state": state}]
    return {"phase": "Pending", "containerStatuses": statuses, "conditions": _UNREADY}


def _ended(reason: str, code: int, *, ago: float = 14, restarts: int = 1, ran: float = 1) -> dict[str, Any]:
    """Return the status of a pod whose container runs again."""
    last = {"terminated": {"reason": reason, "exitCode": code}}
    last["terminated"] |= {"startedAt": _stamp(ago + ran), "finishedAt": _stamp(ago)}
    statuses = [{"name": "main", "restartCount": restarts, "state": {"running": {}}, "lastState": last}]
    return {
        "phase": "Running",
        "containerStatuses": statuses,
        "conditions": [{"type": "Ready", "status": "True"}],
    }


def _placed(name: str, status: dict[str, Any], *, on: str = "gpu-a01", image: str = "i", **parts: Any) -> Pod:
    spec = {"nodeName": on, "containers": [gpus(1, image=image)], **parts.pop("spec", {})}
    return pod(name, "vision", spec=spec, status=status, **parts)


def _said(about: str, reason: str, message: str, *, ago: float = 1, count: int = 1) -> Event:
    tree = {
        "metadata": {"name": f"{about}.{ago}", "namespace": "vision"},
        "involvedObject": {"kind": "Pod", "namespace": "vision", "name": about},
        "reason": reason,
        "message": message,
        "count": count,
        "lastTimestamp": _stamp(ago),
    }
    return read(Event, tree)


def _on_nodes(*things: Pod | Event, **parts: Any) -> Any:
    sick = node("gpu-sick", status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
    return check_input(inventory(node("gpu-a01"), node("gpu-a02"), sick, *things), **parts)


def _fired(summary: str, *texts: str, **labels: str) -> Fired:
    return Fired(labels={**labels, "severity": "warning"}, summary=summary, texts=texts)


_UNREADY = [{"type": "Ready", "status": "False"}]
_NOT_READY = {"phase": "Running", "conditions": _UNREADY}
_NO_IMAGE = _held("ImagePullBackOff", "Back-off pulling image")
_STARTING = Training(
    id="vision/detr",
    kind="Job",
    namespace="vision",
    name="detr",
    state=TrainingState.STARTING,
    ranks=(Rank(role="worker", index=0, pod="rank"),),
)
_OVER = Training(
    id="vision/over",
    kind="Job",
    namespace="vision",
    name="over",
    state=TrainingState.FAILED,
    ranks=(Rank(role="worker", index=0, pod="old-rank"),),
)
_OF_SERVE: dict[str, Any] = {
    "ownerReferences": [{**owned("StatefulSet", "serve")[0], "apiVersion": "apps/v1"}]
}
_LONELY: dict[str, str] = {"namespace": "vision", "pod": "lonely"}
_NOT_THEIRS = (
    _placed("no-gpu", _NO_IMAGE, spec={"containers": [container()]}),
    _placed("on-a-node-that-is-sick", _NO_IMAGE, on="gpu-sick"),
    _placed("on-a-node-that-is-gone", _NO_IMAGE, on="gpu-gone"),
    _placed("going", _NO_IMAGE, deletionTimestamp=_stamp(1)),
    _waiting("not-placed"),
    _placed("well", {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}),
    _placed("silent", {"phase": "Running"}),
    _placed("done", {"phase": "Succeeded", "conditions": _UNREADY}),
)

WORKLOAD_CHECK_CASES: Sequence[CheckCase] = (
    *REFUSED_CASES,
    CheckCase(
        rule="ImagePullFailing",
        description="of a training without GPUs, a StatefulSet and a bare pod, each with what the kubelet says",
        inputs=_on_nodes(
            _placed("rank", _held("ErrImagePull", "not found"), spec={"containers": [container()]}),
            _placed("serve-0", _NO_IMAGE, **_OF_SERVE),
            _placed("serve-1", _NO_IMAGE, on="gpu-a02", **_OF_SERVE),
            _said("serve-0", "Failed", "Failed to pull image: unauthorized", ago=2),
            _said("serve-0", "Failed", "Error: ImagePullBackOff"),
            _placed("lonely", _held("InvalidImageName"), image="reg.example/a/b"),
            trainings=(_STARTING,),
        ),
        fired=(
            _fired(
                "Images cannot be pulled: Training vision/detr.",
                "rank on gpu-a01: ErrImagePull: not found",
                namespace="vision",
                training="vision/detr",
            ),
            _fired(
                "Images cannot be pulled: StatefulSet vision/serve.",
                "serve-0 on gpu-a01: Failed: Failed to pull image: unauthorized",
                "serve-1 on gpu-a02: ImagePullBackOff: Back-off pulling image",
                namespace="vision",
                workload="serve",
                workload_type="StatefulSet",
            ),
            _fired(
                "Images cannot be pulled: Pod vision/lonely.",
                "lonely on gpu-a01: InvalidImageName: its image name is invalid",
                **_LONELY,
            ),
        ),
    ),
    CheckCase(
        rule="ImagePullFailing",
        description="of three workloads on one node it is the node's",
        inputs=_on_nodes(
            *(_placed(name, _NO_IMAGE, image=f"{name}.example/i") for name in ("a", "b", "c")),
            _placed("lonely", _NO_IMAGE, on="gpu-a02"),
        ),
        fired=(
            _fired(
                "Images cannot be pulled: gpu-a01.",
                *(f"{name} on gpu-a01: ImagePullBackOff: Back-off pulling image" for name in ("a", "b", "c")),
                node="gpu-a01",
            ),
            _fired(
                "Images cannot be pulled: Pod vision/lonely.",
                "lonely on gpu-a02: ImagePullBackOff: Back-off pulling image",
                **_LONELY,
            ),
        ),
    ),
    CheckCase(
        rule="ImagePullFailing",
        description="of three workloads with one registry on two nodes it is the registry's",
        inputs=_on_nodes(
            _placed("a", _NO_IMAGE, image="reg.example:5000/team/a"),
            _placed("b", _NO_IMAGE, image="reg.example:5000/b", on="gpu-a02"),
            _placed("lonely", _NO_IMAGE, image="reg.example:5000/c", on="gpu-a02"),
            _placed("z", _NO_IMAGE, image="team/z"),
        ),
        fired=(
            _fired(
                "Images cannot be pulled: reg.example:5000.",
                "a on gpu-a01: ImagePullBackOff: Back-off pulling image",
                "b on gpu-a02: ImagePullBackOff: Back-off pulling image",
                "lonely on gpu-a02: ImagePullBackOff: Back-off pulling image",
                component="image-registry",
                registry="reg.example:5000",
            ),
            _fired(
                "Images cannot be pulled: Pod vision/z.",
                "z on gpu-a01: ImagePullBackOff: Back-off pulling image",
                namespace="vision",
                pod="z",
            ),
        ),
    ),
    CheckCase(
        rule="ImagePullFailing",
        description="pods that ask for no GPU, end, wait for a node, run, or whose node is not ready",
        inputs=_on_nodes(*_NOT_THEIRS, _placed("lonely", _held("ContainerCreating")), trainings=(_OVER,)),
    ),
    CheckCase(
        rule="KubeContainerWaiting",
        description="a Secret does not exist, in an init container too",
        inputs=_on_nodes(
            _placed("lonely", _held("CreateContainerConfigError", 'secret "s" not found')),
            _placed(
                "init",
                {
                    "phase": "Pending",
                    "initContainerStatuses": [
                        {"name": "i", "state": {"waiting": {"reason": "CreateContainerError"}}}
                    ],
                    "containerStatuses": [{"name": "m", "state": {"waiting": {"reason": "PodInitializing"}}}],
                },
                **_OF_SERVE,
            ),
            _placed("rank", _held("RunContainerError")),
            trainings=(_STARTING,),
        ),
        fired=(
            _fired(
                "Pod vision/lonely waits for a container that cannot be made.",
                'lonely on gpu-a01: CreateContainerConfigError: secret "s" not found',
                **_LONELY,
            ),
            _fired(
                "StatefulSet vision/serve waits for a container that cannot be made.",
                "init on gpu-a01: CreateContainerError",
                namespace="vision",
                workload="serve",
                workload_type="StatefulSet",
            ),
            _fired(
                "Training vision/detr waits for a container that cannot be made.",
                "rank on gpu-a01: RunContainerError",
                namespace="vision",
                training="vision/detr",
            ),
        ),
    ),
    CheckCase(
        rule="KubeContainerWaiting",
        description="images and crashes have rules of their own, and a container may take its time",
        inputs=_on_nodes(
            *_NOT_THEIRS,
            _placed("image", _NO_IMAGE),
            _placed("crash", _held("CrashLoopBackOff")),
            _placed("slow", _held("ContainerCreating")),
        ),
    ),
    CheckCase(
        rule="KubePodCrashLooping",
        description="they wait for their next start",
        inputs=_on_nodes(
            _placed("rank", _held("CrashLoopBackOff", "back-off 5m0s")),
            _placed("lonely", _held("CrashLoopBackOff", "back-off 5m0s")),
            trainings=(_STARTING,),
        ),
        fired=(
            _fired(
                "Training vision/detr ends again and again soon after it starts.",
                "rank on gpu-a01: CrashLoopBackOff: back-off 5m0s",
                namespace="vision",
                training="vision/detr",
            ),
            _fired(
                "Pod vision/lonely ends again and again soon after it starts.",
                "lonely on gpu-a01: CrashLoopBackOff: back-off 5m0s",
                **_LONELY,
            ),
        ),
    ),
    CheckCase(
        rule="KubePodCrashLooping",
        description="it runs again after its third end",
        inputs=_on_nodes(_placed("serve-2", _ended("Error", 127, restarts=3), **_OF_SERVE)),
        fired=(
            _fired(
                "StatefulSet vision/serve ends again and again soon after it starts.",
                "serve-2 on gpu-a01: Error with 127: the command was not found in the image",
                namespace="vision",
                workload="serve",
                workload_type="StatefulSet",
            ),
        ),
    ),
    CheckCase(
        rule="KubePodCrashLooping",
        description="two ends, a third long ago or after a long run, and ends that are meant",
        inputs=_on_nodes(
            *_NOT_THEIRS,
            _placed("twice", _ended("Error", 1, restarts=2)),
            _placed("after-a-while", _ended("Error", 1, restarts=9, ran=16)),
            _placed("long-ago", _ended("Error", 1, ago=16, restarts=9)),
            _placed("meant", _ended("Completed", 0, restarts=9)),
        ),
    ),
    CheckCase(
        rule="ContainerOOMKilled",
        description="it runs again; and the rank of a training that failed of it",
        inputs=_on_nodes(
            _placed("lonely", _ended("OOMKilled", 137)),
            _placed("serve-2", _ended("OOMKilled", 137), **_OF_SERVE),
            _placed(
                "old-rank",
                {
                    "phase": "Failed",
                    "containerStatuses": [
                        {
                            "name": "main",
                            "state": {
                                "terminated": {
                                    "reason": "OOMKilled",
                                    "exitCode": 137,
                                    "finishedAt": _stamp(14),
                                }
                            },
                        }
                    ],
                },
            ),
            trainings=(_OVER,),
        ),
        fired=(
            _fired(
                "Pod vision/lonely ran out of its memory.",
                "lonely on gpu-a01: OOMKilled with 137: it used more memory than its limit and was killed",
                **_LONELY,
            ),
            _fired(
                "StatefulSet vision/serve ran out of its memory.",
                "serve-2 on gpu-a01: OOMKilled with 137: it used more memory than its limit and was killed",
                namespace="vision",
                workload="serve",
                workload_type="StatefulSet",
            ),
            _fired(
                "Training vision/over ran out of its memory.",
                "old-rank on gpu-a01: OOMKilled with 137: it used more memory than its limit and was killed",
                namespace="vision",
                training="vision/over",
            ),
        ),
    ),
    CheckCase(
        rule="ContainerOOMKilled",
        description="it was killed for another reason, or long ago",
        inputs=_on_nodes(
            _placed("killed", _ended("Error", 137)), _placed("long-ago", _ended("OOMKilled", 137, ago=16))
        ),
    ),
    CheckCase(
        rule="KubePodNotReady",
        description="a volume cannot be mounted; a probe fails; more than three of one workload",
        inputs=_on_nodes(
            _placed("lonely", _held("ContainerCreating")),
            _said("lonely", "FailedMount", 'configmap "cfg" not found', count=9),
            _said("lonely", "Scheduled", "Successfully assigned", ago=0),
            *(_placed(f"serve-{number}", _NOT_READY, **_OF_SERVE) for number in range(4)),
            _said("serve-0", "Unhealthy", "Readiness probe failed"),
        ),
        fired=(
            _fired(
                "Pods have not been ready for 15 minutes: Pod vision/lonely.",
                'lonely on gpu-a01: FailedMount: configmap "cfg" not found',
                **_LONELY,
            ),
            _fired(
                "Pods have not been ready for 15 minutes: StatefulSet vision/serve.",
                "serve-0 on gpu-a01: Unhealthy: Readiness probe failed",
                "serve-1 on gpu-a01: its phase is Running",
                "serve-2 on gpu-a01: its phase is Running",
                "the same: serve-3",
                namespace="vision",
                workload="serve",
                workload_type="StatefulSet",
            ),
        ),
    ),
    CheckCase(
        rule="KubePodNotReady",
        description="nothing starts on a node; two of a training are the training's",
        inputs=_on_nodes(
            *(_placed(name, _held("ContainerCreating")) for name in ("a", "b", "c")),
            _placed("rank", _held("PodInitializing"), on="gpu-a02"),
            trainings=(_STARTING,),
        ),
        fired=(
            _fired(
                "Pods have not been ready for 15 minutes: gpu-a01.",
                *(f"{name} on gpu-a01: its phase is Pending" for name in ("a", "b", "c")),
                node="gpu-a01",
            ),
            _fired(
                "Pods have not been ready for 15 minutes: Training vision/detr.",
                "rank on gpu-a02: its phase is Pending",
                namespace="vision",
                training="vision/detr",
            ),
        ),
    ),
    CheckCase(
        rule="KubePodNotReady",
        description="what has another problem, has ended, is not theirs, or is what the events of its node tell",
        inputs=_on_nodes(
            _placed("lonely", _held("ContainerCreating")),
            _said("lonely", "FailedAttachVolume", "Multi-Attach error for volume", count=5),
            _placed("other", _held("ContainerCreating")),
            _said("other", "FailedMount", "MountVolume.MountDevice failed for volume", count=5),
            *_NOT_THEIRS,
            _placed("image", _NO_IMAGE),
            _placed("failed", {"phase": "Failed", "conditions": _UNREADY}),
        ),
    ),
    CheckCase(
        rule="GPUWorkloadPending",
        description="the pods of an operator's kind, and a bare pod, have no node",
        inputs=check_input(
            inventory(_waiting("resnet-0", _PYTORCH), _waiting("resnet-1", _PYTORCH), _waiting("lonely"))
        ),
        fired=(
            Fired(
                labels={
                    "namespace": "vision",
                    "workload": "resnet",
                    "workload_type": "PyTorchJob",
                    "severity": "warning",
                },
                summary="PyTorchJob vision/resnet is waiting for GPUs.",
                texts=("2 pods without a node",),
            ),
            Fired(
                labels={"namespace": "vision", "pod": "lonely", "severity": "warning"},
                summary="Pod vision/lonely is waiting for GPUs.",
                texts=("1 pod without a node",),
            ),
        ),
    ),
    CheckCase(
        rule="GPUWorkloadPending",
        description="the pods ask for no GPU, are placed, are being deleted, or are a training's",
        inputs=check_input(
            inventory(
                _waiting("small", spec={"containers": [container()]}),
                _waiting("placed", spec={"nodeName": "n1"}),
                _waiting("going", deletionTimestamp="2026-11-21T02:59:00Z"),
                _waiting("rank"),
            ),
            trainings=(_TRAINING,),
        ),
    ),
)
