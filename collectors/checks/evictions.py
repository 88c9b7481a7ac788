"""Checks of pods that a kubelet evicted: because its node ran short, or because the pod was over its own limit."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck
from collectors.cluster.objects import Pod
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample
from collectors.pod_troubles import ended_at

_TEXTS = 3  # messages of one sample
_NODE_IS_SHORT = ("The node was low on resource", "The node had condition")


@partial(
    ClusterCheck,
    name="node-evicting",
    summary="a kubelet evicted pods because its node ran short of memory or disk",
    parameters={"over_minutes": 30.0},
)
def by_node_pressure(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each node that evicted pods lately because it ran short: how many pods."""
    texts: dict[str, list[str]] = defaultdict(list)
    for pod in _evicted(inputs, parameters):
        if pod.spec.node_name and pod.status.message.startswith(_NODE_IS_SHORT):
            texts[pod.spec.node_name].append(f"{pod.key}: {pod.status.message}")
    return [
        Sample(labels=Labels({"node": node}), value=len(lines), texts=tuple(lines[:_TEXTS]))
        for node, lines in texts.items()
    ]


@partial(
    ClusterCheck,
    name="pod-over-local-storage",
    summary="a pod was evicted because it wrote more to local disk than its limit",
    parameters={"over_minutes": 30.0},
)
def by_own_limit(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each pod that was evicted lately for writing more to local disk than its limit allows."""
    return [
        Sample(
            labels=Labels({"namespace": pod.metadata.namespace, "pod": pod.metadata.name}),
            value=1,
            texts=(pod.status.message,) if pod.status.message else (),
        )
        for pod in _evicted(inputs, parameters)
        if not pod.status.message.startswith(_NODE_IS_SHORT)
    ]


def _evicted(inputs: CheckInput, parameters: Mapping[str, Any]) -> Iterator[Pod]:
    """Yield the pods evicted in the last minutes. The objects stay until somebody or their owner removes them."""
    assert not isinstance(inputs.inventory, Blind)
    start = inputs.at - timedelta(minutes=float(parameters["over_minutes"]))
    for pod in inputs.inventory.pods.values():
        if pod.status.reason == "Evicted" and (ended := ended_at(pod)) is not None and ended >= start:
            yield pod


CHECKS = (by_node_pressure, by_own_limit)
