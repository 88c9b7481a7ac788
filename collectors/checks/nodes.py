"""Checks of nodes: not ready, missing GPUs, forgotten cordons."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.inventory import Inventory
from collectors.cluster.resources import gpus_out_of_service, whole_gpus
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample
from collectors.facts.sentences import counted, listed, sentence

CORDONED_BY = "yardmaster.io/cordoned-by"  # an annotation: who cordoned it, if we did
_LABEL, _RESOURCE = "nvidia.com/gpu.count", "nvidia.com/gpu"


@partial(ClusterCheck, name="node-not-ready", summary="a node's Ready condition is False or Unknown")
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
        text = listed(
            filter(None, (sentence("Ready is {status}", status=ready.status), ready.reason, ready.message)),
            ":",
        )
        found.append(Sample(labels=Labels({"node": name}), value=seconds, texts=(text,)))
    return found


@partial(
    ClusterCheck,
    name="gpus-missing",
    summary="GPUs of a node are out of service: allocatable is below capacity",
)
def gpus_missing(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each node and GPU resource whose allocatable is below its capacity: how many are missing.

    The device plugin removes an unhealthy GPU from allocatable and never puts it back by itself; a driver of dynamic
    resource allocation gives it a taint. Where neither runs, a node labelled as one with GPUs has none of them.
    """
    assert not isinstance(inputs.inventory, Blind)
    for name, node in inputs.inventory.nodes.items():
        yield None
        for resource, share in gpus_out_of_service(node).items():
            yield _out(name, resource, share.unhealthy, share.allocatable, share.capacity)
        kept = inputs.inventory.gpus_cordoned_on(name)  # somebody knows of these
        for resource, (every, usable) in inputs.inventory.gpu_devices_on(name).items():
            if (out := every - usable - kept.get(resource, 0)) > 0:
                yield _out(name, resource, out, usable, every)
        if (count := _unregistered(name, inputs.inventory)) and is_node_ready(node):
            text = counted(
                "the GPU that its label {label} names is not registered: does its device plugin run?",
                "none of the {count} GPUs that its label {label} names is registered: does its device plugin run?",
                count=count,
                label=_LABEL,
            )
            yield Sample(labels=Labels({"node": name, "resource": _RESOURCE}), value=count, texts=(text,))


def _out(node: str, resource: str, count: float, usable: float, every: float) -> Sample:
    text = sentence(
        "{allocatable:g} of {capacity:g} {resource} are allocatable",
        allocatable=usable,
        capacity=every,
        resource=resource,
    )
    return Sample(labels=Labels({"node": node, "resource": resource}), value=count, texts=(text,))


@partial(
    ClusterCheck,
    name="cordons-forgotten",
    summary="a node with GPUs is cordoned, and no lease says who wants that and for how long",
)
def cordons_forgotten(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each ready node with GPUs that somebody cordoned without a lease: how many GPUs.

    A cordon of Yardmaster is a lease, whose owner is asked when it ends. Cloud providers cordon what they remove.
    """
    assert not isinstance(inputs.inventory, Blind)
    for name, node in inputs.inventory.nodes.items():
        yield None
        has_lease = CORDONED_BY in (node.metadata.annotations or {})
        if not node.spec.unschedulable or has_lease or is_node_ready(node) is not True:
            continue
        if node.metadata.deletion_timestamp is None and (count := whole_gpus(node)):
            pods = sum(bool(inputs.inventory.gpus_of(pod)) for pod in inputs.inventory.pods_on(name))
            text = counted(
                "{gpus}, and {count} pod with GPUs",
                "{gpus}, and {count} pods with GPUs",
                gpus=counted("{count} GPU", "{count} GPUs", count=count),
                count=pods,
            )
            yield Sample(labels=Labels({"node": name}), value=count, texts=(text,))


def _unregistered(name: str, inventory: Inventory) -> int:
    """Return how many GPUs GPU feature discovery found, if the kubelet knows none by any name."""
    number = (inventory.nodes[name].metadata.labels or {}).get(_LABEL, "")
    return int(number) if number.isdigit() and not inventory.nvidia_gpus_on(name) else 0


CHECKS = (not_ready, gpus_missing, cordons_forgotten)
