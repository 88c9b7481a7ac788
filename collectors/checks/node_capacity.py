"""Checks of what is placed on nodes: too many pods, limits far above what there is, GPUs idle while a gang waits."""

from collections.abc import Mapping, Sequence
from typing import Any

from collectors.checks.check import CheckInput, ClusterCheck
from collectors.cluster.inventory import Inventory
from collectors.cluster.pods import Pod
from collectors.cluster.resources import GpuCounts, gpu_resource, holds_resources, parse_quantity
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample
from collectors.trainings.training import Training, TrainingState


def pods_near_limit(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each node with more than `share` of the pods that its kubelet takes: the share."""
    assert not isinstance(inputs.inventory, Blind)
    found = []
    for name, node in inputs.inventory.nodes.items():
        limit = parse_quantity((node.status.allocatable or {}).get("pods", "0"))
        count = sum(holds_resources(pod) for pod in inputs.inventory.pods_on(name))
        if limit and count / limit > float(parameters["share"]):
            text = f"{count} of {limit:g} pods"
            found.append(Sample(labels=Labels({"node": name}), value=count / limit, texts=(text,)))
    return found


def overcommitted(inputs: CheckInput, parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each node and resource whose pods' limits exceed it by more than this factor: the factor."""
    assert not isinstance(inputs.inventory, Blind)
    found = []
    for name, node in inputs.inventory.nodes.items():
        pods = [pod for pod in inputs.inventory.pods_on(name) if holds_resources(pod)]
        for resource in ("cpu", "memory"):
            has = parse_quantity((node.status.allocatable or {}).get(resource, "0"))
            ratio = sum(_limit(pod, resource) for pod in pods) / has if has else 0
            if ratio > float(parameters[resource]):
                asked = sum(_request(pod, resource) for pod in pods) / has
                text = f"limits are {ratio:.0%} of its {resource}, requests {asked:.0%}"
                labels = Labels({"node": name, "resource": resource})
                found.append(Sample(labels=labels, value=ratio, texts=(text,)))
    return found


def idle_while_waiting(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each training of several tasks that waits while GPU nodes are idle: how many nodes.

    Its texts say how many of its tasks would fit, and which other waiting training would fit as a whole.
    """
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.trainings, Blind)
    waiting = [
        one
        for one in inputs.trainings
        if one.state is TrainingState.QUEUED and one.wanted and one.gpus_wanted
    ]
    gangs = [one for one in waiting if one.wanted > 1]
    if not gangs:
        return []
    free, idle = _free_gpus(inputs.inventory)
    if not idle:
        return []
    fitting = {one.id: _fits(one, free) for one in waiting}
    return [
        Sample(
            labels=Labels({"namespace": gang.namespace, "training": gang.id}),
            value=idle,
            texts=tuple(_advice(gang, waiting, fitting)),
        )
        for gang in gangs
    ]


def _advice(gang: Training, waiting: Sequence[Training], fitting: Mapping[str, int]) -> list[str]:
    fits, size = fitting[gang.id], gang.gpus_wanted / gang.wanted
    if fits >= gang.wanted:
        return [
            f"there are GPUs for all of its {gang.wanted} tasks: its queue, taints or another resource hold it"
        ]
    lines = [f"{fits} of its {gang.wanted} tasks of {size:g} GPUs would fit on what is free"]
    smaller = [one.id for one in waiting if one.id != gang.id and fitting[one.id] >= one.wanted]
    return [*lines, *([f"what would fit as a whole: {', '.join(smaller[:3])}"] if smaller else [])]


def _free_gpus(inventory: Inventory) -> tuple[list[float], int]:
    """Return the free GPUs of each node that takes pods, and how many of those nodes have nothing on their GPUs."""
    free, idle = [], 0
    for name in inventory.nodes:
        gpus = inventory.gpus_on(name)
        if gpus is None or not gpus.usable:
            continue
        whole = [counts for resource, counts in gpus.counts.items() if _is_whole(resource)]
        free.append(sum(one.free - min(one.free, one.reserved) for one in whole))
        idle += _is_idle(whole)
    return free, idle


def _is_whole(resource: str) -> bool:
    gpu = gpu_resource(resource)
    return gpu is not None and not gpu.is_slice


def _is_idle(whole: Sequence[GpuCounts]) -> bool:
    return sum(one.allocatable for one in whole) > 0 and not any(
        one.requested or one.reserved for one in whole
    )


def _fits(training: Training, free: Sequence[float]) -> int:
    """Return how many of its tasks, if they are alike, fit on these nodes."""
    size = training.gpus_wanted / training.wanted
    return min(training.wanted, sum(int(one / size) for one in free))


def _limit(pod: Pod, resource: str) -> float:
    return sum(_of(one.resources.limits, resource) for one in pod.spec.containers or ())


def _request(pod: Pod, resource: str) -> float:
    return sum(_of(one.resources.requests, resource) for one in pod.spec.containers or ())


def _of(quantities: Mapping[str, str | int | float] | None, resource: str) -> float:
    return parse_quantity((quantities or {}).get(resource, "0"))


CHECKS = (
    ClusterCheck(
        name="pods-near-limit",
        summary="a node has nearly as many pods as its kubelet takes",
        needs=frozenset({"inventory"}),
        run=pods_near_limit,
        parameters={"share": 0.95},
    ),
    ClusterCheck(
        name="node-overcommitted",
        summary="the limits of a node's pods exceed its CPUs or its memory by a large factor",
        needs=frozenset({"inventory"}),
        run=overcommitted,
        parameters={"cpu": 3.0, "memory": 1.5},
    ),
    ClusterCheck(
        name="nodes-idle-while-waiting",
        summary="GPU nodes are idle while a training of several tasks waits",
        needs=frozenset({"inventory", "trainings"}),
        run=idle_while_waiting,
    ),
)
