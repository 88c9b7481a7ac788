"""Cases of the check rules: inputs that fire them, inputs that leave them quiet, and why."""

from collections.abc import Sequence
from datetime import timedelta

from collectors.check import SourceState
from collectors.facts.clock import ClockStep
from collectors.trainings.training import Training, TrainingState
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.check_case_files import written_cases
from tests.alerts.packs.cluster_check_cases import CLUSTER_CHECK_CASES
from tests.alerts.packs.dns_check_cases import DNS_CHECK_CASES
from tests.alerts.packs.expected import Fired
from tests.alerts.packs.format_check_cases import FORMAT_CHECK_CASES
from tests.alerts.packs.gpu_check_cases import GPU_CHECK_CASES
from tests.alerts.packs.idle_check_cases import IDLE_CHECK_CASES
from tests.alerts.packs.metrics_check_cases import METRICS_CHECK_CASES
from tests.alerts.packs.node_check_cases import NODE_CHECK_CASES
from tests.alerts.packs.storage_check_cases import STORAGE_CHECK_CASES
from tests.alerts.packs.workload_check_cases import WORKLOAD_CHECK_CASES
from tests.support.objects import NOW, inventory, node


def _ready(status: str, reason: str = "", message: str = "") -> dict[str, object]:
    one = {"type": "Ready", "status": status, "reason": reason, "message": message}
    return {"conditions": [{"type": "DiskPressure", "status": "True"}, one]}


def _gpus(capacity: int, allocatable: int) -> dict[str, object]:
    return {
        "capacity": {"nvidia.com/gpu": str(capacity), "cpu": "16"},
        "allocatable": {"nvidia.com/gpu": str(allocatable), "cpu": "15"},
    }


def _a_training(state: TrainingState, name: str = "detr") -> Training:
    return Training(
        id=f"vision-{name}/{name}-worker",
        kind="Job",
        namespace=f"vision-{name}",
        name=f"{name}-worker",
        state=state,
        reason="0/16 nodes are available: 16 Insufficient nvidia.com/gpu.",
        created=NOW - timedelta(minutes=20),
    )


CHECK_CASES: Sequence[CheckCase] = (
    *DNS_CHECK_CASES,
    *METRICS_CHECK_CASES,
    *WORKLOAD_CHECK_CASES,
    CheckCase(
        rule="GPUUnhealthy",
        description="the device plugin removed one of eight",
        inputs=check_input(inventory(node("gpu-a01", status=_gpus(8, 7)), node("gpu-a02"))),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "resource": "nvidia.com/gpu", "severity": "warning"},
                summary="gpu-a01 has 1 nvidia.com/gpu out of service.",
            ),
        ),
    ),
    CheckCase(
        rule="GPUUnhealthy",
        description="no device plugin registers those that a label counts",
        inputs=check_input(
            inventory(
                node("gpu-a01", labels={"nvidia.com/gpu.count": "8"}, status={"capacity": {"cpu": "64"}}),
                node("gpu-a02", labels={"nvidia.com/gpu.count": "4"}, status=_gpus(0, 0)),
                node("gpu-a03", labels={"nvidia.com/gpu.count": "8"}, status=_gpus(8, 8)),
                node(
                    "gpu-a04",
                    labels={"nvidia.com/gpu.count": "1"},
                    status={
                        "capacity": {"nvidia.com/gpu.shared": "4"},
                        "allocatable": {"nvidia.com/gpu.shared": "4"},
                    },
                ),
                node(
                    "gpu-a05",
                    labels={"nvidia.com/gpu.count": "8"},
                    status={"capacity": {}, **_ready("Unknown")},
                ),
                node("gpu-a06", labels={"nvidia.com/gpu.count": "0"}, status={"capacity": {}}),
                node("infra-01", status={"capacity": {"cpu": "64"}}),
            )
        ),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "resource": "nvidia.com/gpu", "severity": "warning"},
                summary="gpu-a01 has 8 nvidia.com/gpu out of service.",
                texts=(
                    "none of its 8 GPUs by the label nvidia.com/gpu.count is registered: "
                    "does its device plugin run?",
                ),
            ),
            Fired(
                labels={"node": "gpu-a02", "resource": "nvidia.com/gpu", "severity": "warning"},
                summary="gpu-a02 has 4 nvidia.com/gpu out of service.",
                texts=(
                    "none of its 4 GPUs by the label nvidia.com/gpu.count is registered: "
                    "does its device plugin run?",
                ),
            ),
        ),
    ),
    CheckCase(
        rule="GPUUnhealthy",
        description="CPUs reserved for the system are not GPUs out of service; a host without GPUs misses none",
        inputs=check_input(
            inventory(
                node("gpu-a01", status=_gpus(8, 8)),
                node("infra-01", status={"capacity": {"cpu": "16"}, "allocatable": {"cpu": "15"}}),
            )
        ),
    ),
    CheckCase(
        rule="KubeNodeNotReady",
        description="one kubelet does not report, another reports a reason",
        inputs=check_input(
            inventory(
                node("gpu-a01", status=_ready("Unknown", "NodeStatusUnknown", "Kubelet stopped posting.")),
                node("gpu-a02", status=_ready("False", "KubeletNotReady", "PLEG is not healthy")),
                node("gpu-a03"),
            )
        ),
        fired=(
            Fired(labels={"node": "gpu-a01", "severity": "critical"}, summary="gpu-a01 is not ready."),
            Fired(labels={"node": "gpu-a02", "severity": "critical"}, summary="gpu-a02 is not ready."),
        ),
    ),
    CheckCase(
        rule="KubeNodeNotReady",
        description="a cordoned node, a node under disk pressure, and a new node that has not reported yet",
        inputs=check_input(
            inventory(
                node("gpu-a01", spec={"unschedulable": True}),
                node("gpu-a02", status=_ready("True", "KubeletReady")),
                node("gpu-a03", status={"conditions": []}),
            )
        ),
    ),
    CheckCase(
        rule="YardmasterSourceBlind",
        description="Prometheus does not answer, Elasticsearch does",
        inputs=check_input(
            sources=(
                SourceState(
                    source="prometheus", blind_for=timedelta(seconds=45), reason="connection refused"
                ),
                SourceState(source="elasticsearch"),
            )
        ),
        fired=(
            Fired(
                labels={"component": "prometheus", "severity": "critical"},
                summary="Yardmaster cannot see prometheus: it does not answer, or answers only in part.",
            ),
        ),
    ),
    CheckCase(
        rule="YardmasterSourceBlind",
        description="one rule whose query fails does not make its source blind",
        inputs=check_input(
            sources=(SourceState(source="prometheus", rules={"gpu/gpu/GPUTemperatureHigh": "bad regexp"}),)
        ),
    ),
    CheckCase(
        rule="YardmasterRuleBlind",
        description="the query of one rule fails although its source answers",
        inputs=check_input(
            sources=(SourceState(source="prometheus", rules={"gpu/gpu/GPUTemperatureHigh": "bad regexp"}),)
        ),
        fired=(
            Fired(
                labels={
                    "component": "yardmaster",
                    "rule": "gpu/gpu/GPUTemperatureHigh",
                    "severity": "warning",
                },
                summary="The query of rule gpu/gpu/GPUTemperatureHigh fails or is incomplete, "
                "although its source answers.",
            ),
        ),
    ),
    CheckCase(
        rule="YardmasterRuleBlind",
        description="its source is blind: that is one alert, not one per rule",
        inputs=check_input(
            sources=(
                SourceState(
                    source="prometheus",
                    blind_for=timedelta(seconds=5),
                    rules={"gpu/gpu/GPUTemperatureHigh": "x"},
                ),
            )
        ),
    ),
    CheckCase(
        rule="YardmasterClockSet",
        description="the clock was set back by an hour",
        inputs=check_input(clock_step=ClockStep(by=timedelta(hours=-1), at=NOW)),
        fired=(
            Fired(
                labels={"component": "yardmaster", "direction": "back", "severity": "warning"},
                summary="The wall clock of Yardmaster's machine was set back by 1h 0m 0s.",
            ),
        ),
    ),
    CheckCase(
        rule="YardmasterClockSet",
        description="the clock was set forward by a day",
        inputs=check_input(clock_step=ClockStep(by=timedelta(days=1), at=NOW)),
        fired=(
            Fired(
                labels={"component": "yardmaster", "direction": "forward", "severity": "warning"},
                summary="The wall clock of Yardmaster's machine was set forward by 1d 0h 0m 0s.",
            ),
        ),
    ),
    CheckCase(rule="YardmasterClockSet", description="nobody set the clock lately", inputs=check_input()),
    CheckCase(
        rule="TrainingPending",
        description="its pods are waiting for GPUs",
        inputs=check_input(
            trainings=(_a_training(TrainingState.QUEUED), _a_training(TrainingState.RUNNING, "segment"))
        ),
        fired=(
            Fired(
                labels={
                    "namespace": "vision-detr",
                    "training": "vision-detr/detr-worker",
                    "severity": "warning",
                },
                summary="Training vision-detr/detr-worker is waiting for resources.",
            ),
        ),
    ),
    CheckCase(
        rule="TrainingPending",
        description="suspended, starting, running and ended trainings are not waiting for resources",
        inputs=check_input(
            trainings=tuple(
                _a_training(state)
                for state in (
                    TrainingState.SUSPENDED,
                    TrainingState.STARTING,
                    TrainingState.RUNNING,
                    TrainingState.FAILED,
                    TrainingState.STOPPED,
                )
            )
        ),
    ),
    *NODE_CHECK_CASES,
    *STORAGE_CHECK_CASES,
    *FORMAT_CHECK_CASES,
    *GPU_CHECK_CASES,
    *IDLE_CHECK_CASES,
    *CLUSTER_CHECK_CASES,
    *written_cases(),
)
