"""Cases of the rule on GPU nodes that nobody measures."""

from collections.abc import Sequence

from collectors.cluster.objects import Node
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.support.objects import inventory, node, pod

_READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def _node(name: str, *, gpus: int = 8, resource: str = "nvidia.com/gpu", ready: bool = True) -> Node:
    conditions = _READY if ready else {"conditions": [{"type": "Ready", "status": "Unknown"}]}
    addresses = [{"type": "InternalIP", "address": f"10.0.0.{name[-1]}"}]
    return node(name, status={"capacity": {resource: str(gpus)}, "addresses": addresses, **conditions})


_EXPORTER = pod(
    "dcgm-exporter-x7k2p",
    "monitoring",
    spec={"nodeName": "gpu-a03"},
    status={"podIP": "10.244.3.3", "phase": "Running"},
)


def _series(**labels: str) -> Sample:
    return Sample(labels=Labels(labels), value=8)


_SEEN = (_series(Hostname="gpu-a01"), _series(instance="10.0.0.2:9400"))
_FIVE = tuple(_node(f"gpu-a0{number}") for number in range(1, 6))

GPU_CHECK_CASES: Sequence[CheckCase] = (
    CheckCase(
        rule="GPUMetricsMissing",
        description="a node's exporter is gone; others are known by name, by address, and by the exporter's pod",
        inputs=check_input(
            inventory(*(_node(f"gpu-a0{number}") for number in range(1, 5)), _EXPORTER),
            metrics=(*_SEEN, _series(instance="10.244.3.3:9400"), _series(Hostname="gpu-a04", seen="before")),
        ),
        fired=(
            Fired(
                labels={"node": "gpu-a04", "severity": "warning"},
                summary="Nothing is known of the 8 GPUs of gpu-a04: Prometheus has no series of them.",
            ),
        ),
    ),
    CheckCase(
        rule="GPUMetricsMissing",
        description="no node has series any more: that is one exporter, and not five nodes",
        inputs=check_input(inventory(*_FIVE), metrics=(_series(Hostname="gpu-a01", seen="before"),)),
        fired=(
            Fired(
                labels={"component": "dcgm-exporter", "severity": "warning"},
                summary="Nothing is known of the GPUs of 5 nodes: Prometheus has no series of them.",
            ),
        ),
    ),
    *(
        CheckCase(
            rule="GPUMetricsMissing",
            description=f"{gone} of {count} nodes have none: each of them is named",
            inputs=check_input(
                inventory(*(_node(f"gpu-{number}") for number in range(count))),
                metrics=tuple(_series(Hostname=f"gpu-{number}") for number in range(gone, count)),
            ),
            fired=tuple(
                Fired(
                    labels={"node": f"gpu-{number}", "severity": "warning"},
                    summary=f"Nothing is known of the 8 GPUs of gpu-{number}: Prometheus has no series of them.",
                )
                for number in range(gone)
            ),
        )
        for gone, count in ((3, 4), (4, 8))
    ),
    CheckCase(
        rule="GPUMetricsMissing",
        description="more than half have none: that is one exporter",
        inputs=check_input(
            inventory(*(_node(f"gpu-{number}") for number in range(9))),
            metrics=tuple(_series(Hostname=f"gpu-{number}") for number in range(5, 9)),
        ),
        fired=(
            Fired(
                labels={"component": "dcgm-exporter", "severity": "warning"},
                summary="Nothing is known of the GPUs of 5 nodes: Prometheus has no series of them.",
            ),
        ),
    ),
    CheckCase(
        rule="GPUMetricsMissing",
        description="a cluster that never had dcgm-exporter misses nothing",
        inputs=check_input(inventory(_node("gpu-a01"))),
    ),
    CheckCase(
        rule="GPUMetricsMissing",
        description="a node without GPUs, one of another vendor, and one that is not ready",
        inputs=check_input(
            inventory(
                _node("gpu-a01"),
                _node("gpu-a02", gpus=0),
                _node("gpu-a03", resource="amd.com/gpu"),
                _node("gpu-a04", ready=False),
            ),
            metrics=(_series(Hostname="gpu-a01"),),
        ),
    ),
    CheckCase(
        rule="GPUMetricsMissing",
        description="series that name no node may be of the node that seems to have none",
        inputs=check_input(
            inventory(_node("gpu-a01"), _node("gpu-a02")),
            metrics=(_series(Hostname="gpu-a01"), _series(instance="192.0.2.7:9400")),
        ),
    ),
)
