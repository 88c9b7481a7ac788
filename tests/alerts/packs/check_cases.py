"""This file has the cases of check rules: scenes that fire them, scenes that leave them quiet, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from collectors.checks.check import CheckInput, SourceState
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Service
from collectors.facts.results import Blind
from collectors.trainings.training import Training, TrainingState
from tests.alerts.packs.fired import Fired
from tests.support.objects import NOW, inventory, node, read


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCase:
    rule: str
    why: str
    inputs: CheckInput
    fired: tuple[Fired, ...] = ()


def _check_input(
    seen: Inventory | Blind | None = None,
    *,
    trainings: Sequence[Training] | Blind = (),
    configs: Mapping[str, Mapping[str, str]] | Blind | None = None,
    sources: Sequence[SourceState] = (),
) -> CheckInput:
    return CheckInput(
        at=NOW,
        inventory=inventory() if seen is None else seen,
        trainings=trainings,
        configs={} if configs is None else configs,
        sources=sources,
    )


def _ready(status: str, reason: str = "", message: str = "") -> dict[str, object]:
    one = {"type": "Ready", "status": status, "reason": reason, "message": message}
    return {"conditions": [{"type": "DiskPressure", "status": "True"}, one]}


def _gpus(capacity: int, allocatable: int) -> dict[str, object]:
    return {
        "capacity": {"nvidia.com/gpu": str(capacity), "cpu": "16"},
        "allocatable": {"nvidia.com/gpu": str(allocatable), "cpu": "15"},
    }


def _a_training(life: TrainingState, name: str = "detr") -> Training:
    return Training(
        id=f"vision-{name}/{name}-worker",
        kind="Job",
        namespace=f"vision-{name}",
        name=f"{name}-worker",
        state=life,
        reason="0/16 nodes are available: 16 Insufficient nvidia.com/gpu.",
        created=NOW - timedelta(minutes=20),
    )


def _cluster_of(nodes: int, *, services: int = 3, cordoned: int = 0) -> Inventory:
    held = [node(f"gpu-{number:03d}", spec={"unschedulable": number < cordoned}) for number in range(nodes)]
    named = {
        f"default/s{number}": read(Service, {"metadata": {"name": f"s{number}", "namespace": "default"}})
        for number in range(services)
    }
    return replace(inventory(*held), services=named)


def _autoscaler(max: int, **more: object) -> dict[str, dict[str, str]]:
    extra = "".join(f', "{name}": {str(value).lower()}' for name, value in more.items())
    return {
        "kube-system/kube-dns-autoscaler": {
            "linear": f'{{"nodesPerReplica": 10, "min": 1, "max": {max}{extra}}}'
        }
    }


_CAPPED = {
    "component": "dns",
    "namespace": "kube-system",
    "configmap": "kube-dns-autoscaler",
    "severity": "warning",
}

CHECK_CASES: Sequence[CheckCase] = (
    CheckCase(
        rule="DNSAutoscalerCapped",
        why="61 nodes call for seven replicas where five are allowed",
        inputs=_check_input(_cluster_of(61), configs=_autoscaler(5)),
        fired=(
            Fired(
                labels=_CAPPED,
                summary="The DNS autoscaler stands at its cap; 7 replicas are called for.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerCapped",
        why="few nodes, but 700 Services: names are the load of a name server",
        inputs=_check_input(_cluster_of(20, services=700), configs=_autoscaler(2)),
        fired=(
            Fired(
                labels=_CAPPED,
                summary="The DNS autoscaler stands at its cap; 3 replicas are called for.",
            ),
        ),
    ),
    CheckCase(
        rule="DNSAutoscalerCapped",
        why="what is called for is exactly what is allowed",
        inputs=_check_input(_cluster_of(50), configs=_autoscaler(5)),
    ),
    CheckCase(
        rule="DNSAutoscalerCapped",
        why="the autoscaler does not count nodes that are cordoned",
        inputs=_check_input(_cluster_of(61, cordoned=30), configs=_autoscaler(5)),
    ),
    CheckCase(
        rule="DNSAutoscalerCapped",
        why="a maximum of 0 is no maximum, and a document that is broken caps nothing",
        inputs=_check_input(
            _cluster_of(61), configs={**_autoscaler(0), "kube-system/dns-autoscaler": {"linear": "{"}}
        ),
    ),
    CheckCase(
        rule="GPUUnhealthy",
        why="the device plugin took one of eight away",
        inputs=_check_input(inventory(node("gpu-a01", status=_gpus(8, 7)), node("gpu-a02"))),
        fired=(
            Fired(
                labels={"node": "gpu-a01", "resource": "nvidia.com/gpu", "severity": "warning"},
                summary="gpu-a01 has 1 nvidia.com/gpu out of service.",
            ),
        ),
    ),
    CheckCase(
        rule="GPUUnhealthy",
        why="CPUs that are kept for the system are not GPUs out of service; a host without GPUs misses none",
        inputs=_check_input(
            inventory(
                node("gpu-a01", status=_gpus(8, 8)),
                node("infra-01", status={"capacity": {"cpu": "16"}, "allocatable": {"cpu": "15"}}),
            )
        ),
    ),
    CheckCase(
        rule="KubeNodeNotReady",
        why="one kubelet is silent, another says why",
        inputs=_check_input(
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
        why="cordoned is not broken, pressure is another matter, and a new node has not spoken yet",
        inputs=_check_input(
            inventory(
                node("gpu-a01", spec={"unschedulable": True}),
                node("gpu-a02", status=_ready("True", "KubeletReady")),
                node("gpu-a03", status={"conditions": []}),
            )
        ),
    ),
    CheckCase(
        rule="YardmasterSourceBlind",
        why="Prometheus does not answer, Elasticsearch does",
        inputs=_check_input(
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
                summary="Yardmaster is blind: prometheus does not answer, or not whole.",
            ),
        ),
    ),
    CheckCase(
        rule="YardmasterSourceBlind",
        why="one rule that cannot be answered does not make its source blind",
        inputs=_check_input(
            sources=(SourceState(source="prometheus", rules={"gpu/gpu/GPUTemperatureHigh": "bad regexp"}),)
        ),
    ),
    CheckCase(
        rule="YardmasterRuleBlind",
        why="one rule cannot be answered though its source can",
        inputs=_check_input(
            sources=(SourceState(source="prometheus", rules={"gpu/gpu/GPUTemperatureHigh": "bad regexp"}),)
        ),
        fired=(
            Fired(
                labels={
                    "component": "yardmaster",
                    "rule": "gpu/gpu/GPUTemperatureHigh",
                    "severity": "warning",
                },
                summary="The rule gpu/gpu/GPUTemperatureHigh is not answered whole, though its source is there.",
            ),
        ),
    ),
    CheckCase(
        rule="YardmasterRuleBlind",
        why="its source is blind as a whole: that is one alert, not one a rule",
        inputs=_check_input(
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
        rule="TrainingPending",
        why="its pods wait for GPUs",
        inputs=_check_input(
            trainings=(_a_training(TrainingState.QUEUED), _a_training(TrainingState.RUNNING, "segment"))
        ),
        fired=(
            Fired(
                labels={
                    "namespace": "vision-detr",
                    "training": "vision-detr/detr-worker",
                    "severity": "warning",
                },
                summary="Training vision-detr/detr-worker waits for resources.",
            ),
        ),
    ),
    CheckCase(
        rule="TrainingPending",
        why="suspended is a wish, starting is progress, and what ended waits for nothing",
        inputs=_check_input(
            trainings=tuple(
                _a_training(life)
                for life in (
                    TrainingState.SUSPENDED,
                    TrainingState.STARTING,
                    TrainingState.RUNNING,
                    TrainingState.FAILED,
                    TrainingState.STOPPED,
                )
            )
        ),
    ),
)
