"""Cases of the checks of workloads with GPUs that are no trainings."""

from collections.abc import Sequence
from typing import Any

from collectors.cluster.objects import Pod
from collectors.trainings.training import Rank, Training, TrainingState
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.support.objects import container, gpus, inventory, pod

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

WORKLOAD_CHECK_CASES: Sequence[CheckCase] = (
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
