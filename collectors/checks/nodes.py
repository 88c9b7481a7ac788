"""This file has the checks of nodes: not ready, GPUs that vanished."""

from collections.abc import Mapping, Sequence
from typing import Any

from collectors.checks.check import CheckInput, ClusterCheck
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample


def not_ready(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """One sample for each node whose Ready condition is not True, with the kubelet's own reason and message.

    Whether it is False or Unknown stands in the text and is no label: a node that restarts goes from one to the
    other, and it is one trouble.
    """
    assert not isinstance(inputs.inventory, Blind)
    found = []
    for name, node in inputs.inventory.nodes.items():
        ready = next((one for one in node.status.conditions or () if one.type == "Ready"), None)
        if ready is None or ready.status == "True":
            continue
        since = ready.last_transition_time
        seconds = (inputs.at - since).total_seconds() if since else 0
        words = ": ".join(word for word in (f"Ready is {ready.status}", ready.reason, ready.message) if word)
        found.append(Sample(labels=Labels({"node": name}), value=seconds, texts=(words,)))
    return found


def gpus_missing(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """One sample for each node and GPU resource whose allocatable is below its capacity: how many are missing.

    The device plugin takes a GPU that it calls unhealthy out of allocatable, and never puts it back by itself.
    """
    assert not isinstance(inputs.inventory, Blind)
    found = []
    for name in inputs.inventory.nodes:
        gpus = inputs.inventory.gpus_on(name)
        for resource, share in (gpus.counts if gpus else {}).items():
            if (missing := share.capacity - share.allocatable) > 0:
                told = f"{share.allocatable:g} of {share.capacity:g} {resource} are left"
                found.append(
                    Sample(labels=Labels({"node": name, "resource": resource}), value=missing, texts=(told,))
                )
    return found


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
