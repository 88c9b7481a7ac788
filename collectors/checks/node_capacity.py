"""Checks of what is placed on nodes: too many pods, limits far above what there is, GPUs idle while a gang waits."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.cluster.base import Quantities
from collectors.cluster.indexes import by_node
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import PODS
from collectors.cluster.pods import Pod
from collectors.cluster.resources import GpuCounts, gpu_resource, holds_resources, parse_quantity
from collectors.facts.labels import Labels
from collectors.facts.results import Blind, Sample
from collectors.facts.sentences import counted, listed, sentence
from collectors.trainings.training import Training, TrainingState

_COMMITTED = ("cpu", "memory")


@partial(
    ClusterCheck,
    name="pods-near-limit",
    summary="a node has nearly as many pods as its kubelet allows",
    parameters={"share": 0.95},
)
def pods_near_limit(inputs: CheckInput, parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each node with more than `share` of the pods that its kubelet takes: the share."""
    assert not isinstance(inputs.inventory, Blind)
    share = float(parameters["share"])
    for name, node in inputs.inventory.nodes.items():
        yield None
        limit = _of(node.status.allocatable, "pods")
        count = len(_held_on(name, inputs.inventory))
        if limit and count / limit > share:
            text = counted(
                "{number} of {count:g} pod", "{number} of {count:g} pods", number=count, count=limit
            )
            yield Sample(labels=Labels({"node": name}), value=count / limit, texts=(text,))


@partial(
    ClusterCheck,
    name="node-overcommitted",
    summary="the limits of a node's pods exceed its CPUs or its memory by a large factor",
    parameters={"cpu": 3.0, "memory": 1.5},
)
def overcommitted(inputs: CheckInput, parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each node and resource whose pods' limits exceed it by more than this factor: the factor."""
    assert not isinstance(inputs.inventory, Blind)
    factors = {resource: float(parameters[resource]) for resource in _COMMITTED}
    for name, node in inputs.inventory.nodes.items():
        yield None
        limits = _limits_on(name, inputs.inventory)
        for resource, limit, factor in zip(_COMMITTED, limits, factors.values(), strict=True):
            has = _of(node.status.allocatable, resource)
            ratio = limit / has if has else 0
            if ratio > factor:
                asked = sum(_request(pod, resource) for pod in _held_on(name, inputs.inventory)) / has
                text = sentence(
                    "limits are {ratio:.0%} of its {resource}, requests {asked:.0%}",
                    ratio=ratio,
                    resource=resource,
                    asked=asked,
                )
                labels = Labels({"node": name, "resource": resource})
                yield Sample(labels=labels, value=ratio, texts=(text,))


@partial(
    ClusterCheck,
    name="nodes-idle-while-waiting",
    summary="GPU nodes are idle while a training of several tasks waits",
    needs={"inventory", "trainings"},
)
def idle_while_waiting(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Found:
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
        return
    free: list[float] = []
    idle = 0
    for whole in _whole_gpus(inputs.inventory):
        yield None
        free.append(sum(one.free - min(one.free, one.reserved) for one in whole))
        idle += _is_idle(whole)
    if not idle:
        return
    fitting: dict[str, int] = {}
    for one in waiting:
        yield None
        fitting[one.id] = _fits(one, free)
    for gang in gangs:
        yield Sample(
            labels=Labels({"namespace": gang.namespace, "training": gang.typed}),
            value=idle,
            texts=tuple(_advice(gang, waiting, fitting)),
        )


def _advice(gang: Training, waiting: Sequence[Training], fitting: Mapping[str, int]) -> list[str]:
    fits, size = fitting[gang.id], gang.gpus_wanted / gang.wanted
    if fits >= gang.wanted:
        return [
            counted(
                "there are GPUs for its task: its queue, taints or another resource hold it",
                "there are GPUs for all of its {count} tasks: its queue, taints or another resource hold it",
                count=gang.wanted,
            )
        ]
    lines = [
        counted(
            "{fits} of its {count} task of {size:g} GPUs would fit on what is free",
            "{fits} of its {count} tasks of {size:g} GPUs would fit on what is free",
            fits=fits,
            count=gang.wanted,
            size=size,
        )
    ]
    smaller = [one.shown for one in waiting if one.id != gang.id and fitting[one.id] >= one.wanted]
    return [
        *lines,
        *([sentence("what would fit as a whole: {smaller}", smaller=listed(smaller[:3]))] if smaller else []),
    ]


def _whole_gpus(inventory: Inventory) -> Iterator[Sequence[GpuCounts]]:
    """Yield the whole GPUs of each node that takes pods."""
    for name in inventory.nodes:
        gpus = inventory.gpus_on(name)
        if gpus is not None and gpus.usable:
            yield [counts for resource, counts in gpus.counts.items() if _is_whole(resource)]


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


def _held_on(node: str, inventory: Inventory) -> Sequence[Pod]:
    """Return the pods of a node that hold what they requested."""
    here = inventory.select(PODS, by_node, node)
    return inventory.memo.get(
        ("held on", node),
        (here,),
        lambda: tuple(pod for pod in inventory.pods_on(node) if holds_resources(pod)),
    )


def _limits_on(node: str, inventory: Inventory) -> Sequence[float]:
    """Return the limits of a node's pods, for each of the resources."""
    held = _held_on(node, inventory)
    return inventory.memo.get(
        ("limits on", node),
        (held,),
        lambda: tuple(sum(_limit(pod, resource) for pod in held) for resource in _COMMITTED),
    )


def _limit(pod: Pod, resource: str) -> float:
    return sum(_of(one.resources.limits, resource) for one in pod.spec.containers or ())


def _request(pod: Pod, resource: str) -> float:
    return sum(_of(one.resources.requests, resource) for one in pod.spec.containers or ())


def _of(quantities: Quantities | None, resource: str) -> float:
    return parse_quantity(quantities[resource]) if quantities and resource in quantities else 0


CHECKS = (pods_near_limit, overcommitted, idle_while_waiting)
