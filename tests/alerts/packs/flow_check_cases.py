"""Cases of the rule on logs that do not arrive."""

from collections.abc import Sequence
from datetime import timedelta

from collectors.cluster.objects import Node
from collectors.facts.labels import Labels
from collectors.facts.results import Sample
from tests.alerts.packs.check_case import CheckCase, check_input
from tests.alerts.packs.expected import Fired
from tests.support.objects import NOW, inventory, node


def _node(name: str, *, ready: str = "True", minutes: float = 60, gpus: int = 8) -> Node:
    since = (NOW - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
    status = {
        "capacity": {"nvidia.com/gpu": str(gpus)} if gpus else {"cpu": "64"},
        "conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": since}],
        "addresses": [{"type": "Hostname", "address": f"{name}.example.org"}],
    }
    return node(name, status=status)


def _lines(*names: str) -> tuple[Sample, ...]:
    return tuple(Sample(labels=Labels({"node": name}), value=900) for name in names)


_THREE = (_node("gpu-a01"), _node("gpu-a02"), _node("gpu-a03"))
_ALL = _lines("gpu-a01", "gpu-a02", "gpu-a03")
_SILENT = Fired(
    labels={"node": "gpu-a03", "severity": "warning"},
    summary="No log lines of gpu-a03 have arrived for 15 minutes.",
)

FLOW_CHECK_CASES: Sequence[CheckCase] = (
    CheckCase(
        rule="LogsMissing",
        description="a node's lines stopped; another is known by its full name",
        inputs=check_input(inventory(*_THREE), logs=(_lines("gpu-a01", "gpu-a02.example.org"), _ALL)),
        fired=(_SILENT,),
    ),
    CheckCase(
        rule="LogsMissing",
        description="a node had none for long, while most of its kind have",
        inputs=check_input(
            inventory(*_THREE), logs=(_lines("gpu-a01", "gpu-a02"), _lines("gpu-a01", "gpu-a02"))
        ),
        fired=(_SILENT,),
    ),
    CheckCase(
        rule="LogsMissing",
        description="no node has any: that is one fault, and not three",
        inputs=check_input(inventory(*_THREE), logs=((), _ALL)),
        fired=(
            Fired(
                labels={"component": "logs", "severity": "warning"},
                summary="No log lines of any node have arrived for 15 minutes; 3 nodes had some before.",
            ),
        ),
    ),
    CheckCase(
        rule="LogsMissing",
        description="logs of this cluster were never shipped",
        inputs=check_input(inventory(*_THREE), logs=((), ())),
    ),
    CheckCase(
        rule="LogsMissing",
        description="only the nodes with GPUs ship their logs, or half of them do",
        inputs=check_input(
            inventory(*_THREE, _node("gpu-a04"), *(_node(f"infra-0{one}", gpus=0) for one in range(5))),
            logs=(_lines("gpu-a01", "gpu-a02"), _lines("gpu-a01", "gpu-a02")),
        ),
    ),
    CheckCase(
        rule="LogsMissing",
        description="a node is ready for a little more than a quarter of an hour",
        inputs=check_input(
            inventory(*_THREE[:2], _node("gpu-a03", minutes=16)), logs=(_lines("gpu-a01", "gpu-a02"), _ALL)
        ),
        fired=(_SILENT,),
    ),
    CheckCase(
        rule="LogsMissing",
        description="a node that is not ready, and one that is ready for less than a quarter of an hour",
        inputs=check_input(
            inventory(*_THREE[:2], _node("gpu-a03", ready="Unknown"), _node("gpu-a04", minutes=14)),
            logs=(_lines("gpu-a01", "gpu-a02"), _lines("gpu-a01", "gpu-a02", "gpu-a03", "gpu-a04")),
        ),
    ),
    CheckCase(
        rule="LogsMissing",
        description="lines of a name that no node has may be of the node that seems to have none",
        inputs=check_input(inventory(*_THREE), logs=(_lines("gpu-a01", "gpu-a02", "filebeat-x7k2p"), _ALL)),
    ),
)
