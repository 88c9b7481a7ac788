"""Cases of the rule on GPU nodes that nobody measures."""

from collections.abc import Mapping, Sequence

from collectors.cluster.objects import Node
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.support.objects import inventory, node, pod

_READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def _node(
    name: str,
    *,
    gpus: int = 8,
    resource: str = "nvidia.com/gpu",
    ready: bool = True,
    labels: Mapping[str, str] | None = None,
) -> Node:
    conditions = _READY if ready else {"conditions": [{"type": "Ready", "status": "Unknown"}]}
    addresses = [{"type": "InternalIP", "address": f"10.0.0.{name[-1]}"}]
    return node(
        name,
        labels={f"nvidia.com/{label}": value for label, value in (labels or {}).items()},
        status={"capacity": {resource: str(gpus)}, "addresses": addresses, **conditions},
    )


_EXPORTER = pod(
    "dcgm-exporter-x7k2p",
    "monitoring",
    spec={"nodeName": "gpu-a03"},
    status={"podIP": "10.244.3.3", "phase": "Running"},
)


def _series(gpus: int = 8, **labels: str) -> Sample:
    return Sample(labels=Labels(labels), value=gpus)


_SEEN = (_series(Hostname="gpu-a01"), _series(instance="10.0.0.2:9400"))
_FIVE = tuple(_node(f"gpu-a0{number}") for number in range(1, 6))

GPU_CHECK_CASES: Sequence[CheckCase] = (
    CheckCase(
        rule="GPUMetricsMissing",
        description="GPUs of another make, which nothing measures",
        inputs=check_input(
            inventory(
                _node("amd-1", resource="amd.com/gpu"),
                _node("amd-2", resource="amd.com/gpu"),
                _node("amd-3", resource="amd.com/gpu", ready=False),
            ),
            metrics=(),
        ),
        fired=(
            Fired(
                labels={"component": "amd.com", "severity": "warning"},
                summary="Nothing is known of GPUs of 2 nodes: Prometheus has no such series.",
            ),
        ),
    ),
    CheckCase(
        rule="GPUMetricsMissing",
        description="GPUs of another make, of which some are measured",
        inputs=check_input(
            inventory(
                _node("npu-1", resource="huawei.com/Ascend910"),
                _node("npu-2", resource="huawei.com/Ascend910"),
            ),
            metrics=(_series(Hostname="npu-1"),),
        ),
    ),
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
                summary="Nothing is known of 8 GPUs of gpu-a04: Prometheus has no such series.",
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
                summary="Nothing is known of GPUs of 5 nodes: Prometheus has no such series.",
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
                    summary=f"Nothing is known of 8 GPUs of gpu-{number}: Prometheus has no such series.",
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
                summary="Nothing is known of GPUs of 5 nodes: Prometheus has no such series.",
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
        description="a node without GPUs, and one that is not ready",
        inputs=check_input(
            inventory(
                _node("gpu-a01"),
                _node("gpu-a02", gpus=0),
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
    CheckCase(
        rule="GPUMetricsMissing",
        description="a node has series of seven of its eight GPUs, whoever scrapes them how often",
        inputs=check_input(
            inventory(
                _node("gpu-a01"),
                _node("gpu-a02"),
                _node("gpu-a03", labels={"gpu.count": "8"}),
                _node("gpu-a04", gpus=32, labels={"gpu.count": "8", "gpu.replicas": "4"}),
            ),
            metrics=(
                _series(Hostname="gpu-a01"),
                _series(3, Hostname="gpu-a02", job="dcgm", exported_pod="detr-worker-0", pod="detr-worker-0"),
                _series(4, Hostname="gpu-a02", job="dcgm", pod="detr-worker-1"),
                _series(7, Hostname="gpu-a02", job="dcgm-again"),
                _series(6, Hostname="gpu-a03"),
                _series(4, Hostname="gpu-a04"),
            ),
        ),
        fired=(
            Fired(
                labels={"node": "gpu-a02", "severity": "warning"},
                summary="Nothing is known of 1 GPU of gpu-a02: Prometheus has no such series.",
            ),
            Fired(
                labels={"node": "gpu-a03", "severity": "warning"},
                summary="Nothing is known of 2 GPUs of gpu-a03: Prometheus has no such series.",
            ),
            Fired(
                labels={"node": "gpu-a04", "severity": "warning"},
                summary="Nothing is known of 4 GPUs of gpu-a04: Prometheus has no such series.",
            ),
        ),
    ),
    CheckCase(
        rule="GPUMetricsMissing",
        description="half of one node's GPUs, where others have all of theirs, are no shares of GPUs",
        inputs=check_input(
            inventory(_node("gpu-a01"), _node("gpu-a02")),
            metrics=(_series(Hostname="gpu-a01"), _series(4, Hostname="gpu-a02")),
        ),
        fired=(
            Fired(
                labels={"node": "gpu-a02", "severity": "warning"},
                summary="Nothing is known of 4 GPUs of gpu-a02: Prometheus has no such series.",
            ),
        ),
    ),
    CheckCase(
        rule="GPUMetricsMissing",
        description="most nodes have too few series: that is one exporter",
        inputs=check_input(
            inventory(*_FIVE),
            metrics=tuple(_series(number + 2, Hostname=f"gpu-a0{number}") for number in range(1, 6)),
        ),
        fired=(
            Fired(
                labels={"component": "dcgm-exporter", "severity": "warning"},
                summary="Nothing is known of GPUs of 5 nodes: Prometheus has no such series.",
            ),
        ),
    ),
    CheckCase(
        rule="GPUMetricsMissing",
        description="shares of GPUs, and instances of them, are no GPUs that lack series",
        inputs=check_input(
            inventory(
                _node("gpu-a01", gpus=32, labels={"gpu.count": "8", "gpu.replicas": "4"}),
                _node(
                    "gpu-a02",
                    gpus=56,
                    labels={"gpu.count": "56", "gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"},
                ),
                _node("gpu-a03", gpus=40, labels={"device-plugin.config": "shared-5"}),
                _node("gpu-a04", gpus=32),
                _node("gpu-a05", gpus=16),
                _node("gpu-a06", gpus=7, labels={"gpu.count": "8"}),
            ),
            metrics=(
                *(_series(Hostname=f"gpu-a0{number}") for number in range(1, 5)),
                _series(4, Hostname="gpu-a05"),
                _series(7, Hostname="gpu-a06"),
            ),
        ),
    ),
    CheckCase(
        rule="GPUMetricsMissing",
        description="series that name no node may be of the GPUs that seem to have none",
        inputs=check_input(
            inventory(_node("gpu-a01"), _node("gpu-a02")),
            metrics=(
                _series(Hostname="gpu-a01"),
                _series(7, Hostname="gpu-a02"),
                _series(1, instance="192.0.2.7:9400"),
            ),
        ),
    ),
)
