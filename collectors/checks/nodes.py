"""Checks of nodes: not ready, missing GPUs."""

from collections.abc import Mapping, Sequence
from typing import Any

from collectors.checks.check import CheckInput, ClusterCheck, Found
from collectors.cluster.objects import Node
from collectors.cluster.resources import gpus_out_of_service, is_ready, nvidia_gpus
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample

_COUNTED, _RESOURCE = "nvidia.com/gpu.count", "nvidia.com/gpu"


def not_ready(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each node whose Ready condition is not True, with the kubelet's reason and message.

    The condition's status is in the text and not in a label: a restarting node changes between False and
    Unknown, and that is one alert.
    """
    assert not isinstance(inputs.inventory, Blind)
    found = []
    for name, node in inputs.inventory.nodes.items():
        ready = next((one for one in node.status.conditions or () if one.type == "Ready"), None)
        if ready is None or ready.status == "True":
            continue
        since = ready.last_transition_time
        seconds = (inputs.at - since).total_seconds() if since else 0
        text = ": ".join(part for part in (f"Ready is {ready.status}", ready.reason, ready.message) if part)
        found.append(Sample(labels=Labels({"node": name}), value=seconds, texts=(text,)))
    return found


def gpus_missing(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each node and GPU resource whose allocatable is below its capacity: how many are missing.

    The device plugin removes an unhealthy GPU from allocatable and never puts it back by itself. Where it does not run,
    a node that was labelled as one with GPUs has none of them.
    """
    assert not isinstance(inputs.inventory, Blind)
    for name, node in inputs.inventory.nodes.items():
        yield None
        for resource, share in gpus_out_of_service(node).items():
            text = f"{share.allocatable:g} of {share.capacity:g} {resource} are allocatable"
            labels = Labels({"node": name, "resource": resource})
            yield Sample(labels=labels, value=share.unhealthy, texts=(text,))
        if (count := _unregistered(node)) and is_ready(node):
            text = (
                f"none of its {count} GPUs by the label {_COUNTED} is registered: does its device plugin run?"
            )
            yield Sample(labels=Labels({"node": name, "resource": _RESOURCE}), value=count, texts=(text,))


def _unregistered(node: Node) -> int:
    """Return how many GPUs GPU feature discovery found, if the kubelet knows none by any name."""
    counted = (node.metadata.labels or {}).get(_COUNTED, "")
    return int(counted) if counted.isdigit() and not nvidia_gpus(node.status.capacity or {}) else 0


CHECKS = (
    ClusterCheck(
        name="node-not-ready",
        summary="a node's Ready condition is False or Unknown",
        needs=frozenset({"inventory"}),
        run=not_ready,
    ),
    ClusterCheck(
        name="gpus-missing",
        summary="GPUs of a node are out of service: allocatable is below capacity",
        needs=frozenset({"inventory"}),
        run=gpus_missing,
    ),
)
