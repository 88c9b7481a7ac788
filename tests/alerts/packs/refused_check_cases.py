"""Cases of the check of workloads whose pods are refused."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from collectors.cluster.objects import DaemonSet, Event, Job, ReplicaSet, StatefulSet
from collectors.trainings.training import Training, TrainingState
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.support.objects import NOW, inventory, owned, read

_QUOTA = "pods are forbidden: exceeded quota: gpus"
_WEBHOOK = 'Internal error occurred: failed calling webhook "inject.example": connection refused'


def _refused(
    kind: str, name: str, message: str = _QUOTA, *, ago: float = 1, count: int = 2, **parts: Any
) -> Event:
    tree = {
        "metadata": {"name": f"{name}.{ago}", "namespace": "vision"},
        "involvedObject": {"kind": kind, "namespace": "vision", "name": name},
        "reason": "FailedCreate",
        "message": message,
        "count": count,
        "lastTimestamp": f"{NOW - timedelta(minutes=ago):%Y-%m-%dT%H:%M:%SZ}",
        **parts,
    }
    return read(Event, tree)


def _made(type_: Any, name: str, **meta: Any) -> Any:
    return read(type_, {"metadata": {"name": name, "namespace": "vision", **meta}})


_OF_API = [{**owned("Deployment", "api")[0], "apiVersion": "apps/v1"}]
_TRAINING = Training(
    id="vision/detr",
    kind="Job",
    namespace="vision",
    name="detr",
    state=TrainingState.QUEUED,
    workloads=("vision/Job/detr",),
)

_TRAINING_FIRED = Fired(
    labels={"namespace": "vision", "training": "vision/detr", "severity": "warning"},
    summary="No pods can be created: Training vision/detr.",
    texts=(f"Job/detr: {_QUOTA}",),
)

REFUSED_CASES: Sequence[CheckCase] = (
    CheckCase(
        rule="PodsNotCreated",
        description="of a training, a Deployment, a StatefulSet, and another kind: the last refusal",
        inputs=check_input(
            inventory(
                _made(Job, "detr"),
                _refused("Job", "detr", ago=19),
                _made(ReplicaSet, "api-5d78", ownerReferences=_OF_API),
                _refused("ReplicaSet", "api-5d78", "an earlier reason", ago=2),
                _refused("ReplicaSet", "api-5d78", count=1),
                _made(StatefulSet, "serve"),
                _refused("StatefulSet", "serve"),
                _refused("StatefulSet", "serve", "Created pod", ago=3, reason="SuccessfulCreate"),
                _refused("RayCluster", "ray"),
            ),
            trainings=(_TRAINING,),
        ),
        fired=(
            _TRAINING_FIRED,
            *(
                Fired(
                    labels={
                        "namespace": "vision",
                        "workload": name,
                        "workload_type": kind,
                        "severity": "warning",
                    },
                    summary=f"No pods can be created: {kind} vision/{name}.",
                    texts=(f"{about}: {_QUOTA}",),
                )
                for kind, name, about in (
                    ("RayCluster", "ray", "RayCluster/ray"),
                    ("Deployment", "api", "ReplicaSet/api-5d78"),
                    ("StatefulSet", "serve", "StatefulSet/serve"),
                )
            ),
        ),
    ),
    CheckCase(
        rule="PodsNotCreated",
        description="a webhook that does not answer is one alert",
        inputs=check_input(
            inventory(
                *(_made(DaemonSet, name) for name in "abcd"),
                *(_refused("DaemonSet", name, _WEBHOOK) for name in "abcd"),
            )
        ),
        fired=(
            Fired(
                labels={"component": "apiserver", "webhook": "inject.example", "severity": "warning"},
                summary="No pods can be created: inject.example.",
                texts=tuple(f"DaemonSet/{name}: {_WEBHOOK}" for name in "abc"),
            ),
        ),
    ),
    CheckCase(
        rule="PodsNotCreated",
        description="refused once, long ago, before a pod was created, or of a workload that is gone",
        inputs=check_input(
            inventory(
                *(_made(StatefulSet, name) for name in ("once", "long-ago", "mended")),
                _refused("StatefulSet", "once", count=1),
                _refused("StatefulSet", "long-ago", ago=21),
                _refused("StatefulSet", "mended", ago=2),
                _refused("StatefulSet", "mended", "Created pod", ago=1, reason="SuccessfulCreate"),
                _refused("StatefulSet", "gone"),
            )
        ),
    ),
)
