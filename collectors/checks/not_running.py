"""Checks of pods that have a node and do not run: of trainings, and of other workloads that ask for GPUs.

A gang keeps the GPUs of all its pods while one of them cannot start.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck, Found
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.indexes import by_unready
from collectors.cluster.inventory import Inventory
from collectors.cluster.kinds import EVENTS, PODS
from collectors.cluster.objects import Pod
from collectors.cluster.pods import ContainerStateTerminated
from collectors.cluster.resources import holds_resources
from collectors.facts.labels import Labels
from collectors.facts.one_line import some_of
from collectors.facts.results import Blind, Sample
from collectors.facts.sentences import listed, sentence
from collectors.facts.workload_keys import parse_workload, shown_kind
from collectors.gpu_workloads import BARE_POD, asks_for_gpus, gpu_workload_of
from collectors.pod_troubles import (
    STARTING,
    end_text,
    ends_of,
    last_end,
    last_event,
    statuses_of,
    waiting_texts,
)

_TEXTS = 3  # pods of one sample
_SEVERAL = 3  # workloads that fail in the same way: then it is not their own fault
_LATELY = timedelta(minutes=15)
_CRASHES = 3  # restarts, after which a container that ended lately ends again and again
_CRASH = "CrashLoopBackOff"
# Reasons for which the kubelet lets a container wait. Any other is that it cannot be made.
_IMAGE = re.compile(r"(?i)image|registry|signature")
# Events that make alerts of their node: no volume is attached or mounted there, or no sandbox is made.
_OF_NODE = re.compile(
    r"^(FailedCreatePodSandBox|FailedAttachVolume|FailedMapVolume|FailedMountOnFilesystemMismatch) |"
    r"MountVolume.MountDevice failed|MountVolume.SetUp failed .*(rpc error|mount failed|CSI driver)"
)
_REPEATED = 5


@partial(
    ClusterCheck,
    name="pods-not-running",
    summary="pods of a training, or with GPUs, have a node and do not run: `problem` says why",
    needs={"inventory", "trainings"},
    parameters={"problem": "ready"},
    kinds={EVENTS.name},
)
def not_running(inputs: CheckInput, parameters: Mapping[str, Any]) -> Found:
    """Return a sample for each training and workload with pods that have a node and this problem: how many pods.

    `problem`: `image`, it cannot be pulled; `container`, it cannot be made; `crash`, it ends again and again, lately
    with an error; `oom`, it lately ran out of its memory; `ready`, none of these, and it is
    not ready. Of several workloads whose pods on one node fail, or whose registry does, it is one sample about that. A
    pod on a node that is not ready is left to the check of nodes.
    """
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.trainings, Blind)
    inventory, problem = inputs.inventory, str(parameters["problem"])
    trainings = {
        (training.namespace, rank.pod): training.typed
        for training in inputs.trainings
        if not training.state.is_over or problem == "oom"
        for rank in training.ranks
    }
    found: dict[Labels, list[Pod]] = defaultdict(list)
    for namespace in inventory.grouped(PODS, by_unready).values():
        for pod in namespace:
            yield None
            training = trainings.get((pod.metadata.namespace, pod.metadata.name), "")
            if (training or asks_for_gpus(pod, inventory)) and problem in _problems_of(
                pod, inventory, inputs.at - _LATELY
            ):
                found[_labels(pod, training, inventory)].append(pod)
    yield from _samples(
        found, problem, inventory, [labels for labels, fires in inputs.standing.items() if fires]
    )


def _problems_of(pod: Pod, inventory: Inventory, since: datetime) -> Iterator[str]:
    """Yield the problems of a pod: none of one that ends, or whose node is not ready."""
    node = inventory.nodes.get(pod.spec.node_name)
    if pod.metadata.deletion_timestamp is not None or node is None or is_node_ready(node) is not True:
        return
    ends = [
        (one, end) for one, end in ends_of(pod) if end.finished_at is not None and end.finished_at >= since
    ]
    if any(end.reason == "OOMKilled" for _, end in ends):
        yield "oom"
    waiting = {one.state.waiting.reason for one in statuses_of(pod) if one.state.waiting is not None}
    is_unready = any(one.type == "Ready" and one.status == "False" for one in pod.status.conditions or ())
    if not holds_resources(pod):
        return
    if any(map(_IMAGE.search, waiting)):
        yield "image"
    elif _CRASH in waiting or any(
        one.restart_count >= _CRASHES and end.exit_code and _was_short(end) for one, end in ends
    ):
        yield "crash"
    elif not all(map(STARTING.fullmatch, waiting)):
        yield "container"
    elif (is_unready or pod.status.phase == "Pending") and not _is_of_node(pod, inventory):
        yield "ready"


def _was_short(end: ContainerStateTerminated) -> bool:
    """Whether the container ended soon after it had started. One that ran for days may end once."""
    return end.started_at is None or end.finished_at is None or end.finished_at - end.started_at <= _LATELY


def _is_of_node(pod: Pod, inventory: Inventory) -> bool:
    """Whether its events are such that the checks of events on nodes tell."""
    last = last_event(pod, inventory)
    return (
        last is not None
        and last.times >= _REPEATED
        and bool(_OF_NODE.search(f"{last.reason} {last.message}"))
    )


def _samples(
    found: Mapping[Labels, Sequence[Pod]], problem: str, inventory: Inventory, firing: Sequence[Labels]
) -> Iterator[Sample]:
    """Yield one sample for what several workloads have in common, and one for each of the others."""
    shared: dict[Labels, dict[Labels, Sequence[Pod]]] = defaultdict(dict)
    for labels, pods in found.items():
        if common := _in_common(pods, problem):
            shared[common][labels] = pods
    nodes = {labels: of for labels, of in shared.items() if len(of) >= _SEVERAL and "node" in labels}
    covered = {labels for of in nodes.values() for labels in of}
    registries = defaultdict[Labels, dict[Labels, Sequence[Pod]]](dict)
    if problem == "image":
        for labels, pods in found.items():
            if labels not in covered:
                registries[_registry(pods[0])][labels] = pods
    groups = {**nodes, **{labels: of for labels, of in registries.items() if len(of) >= _SEVERAL}}
    for labels, of in groups.items():
        covered |= of.keys()
        pods = [pod for each in of.values() for pod in each]
        yield Sample(labels=labels, value=len(of), texts=_texts(pods, problem, inventory))
    for labels, pods in found.items():
        if labels not in covered or any(labels.items() <= one.items() for one in firing):
            yield Sample(labels=labels, value=len(pods), texts=_texts(pods, problem, inventory))


def _in_common(pods: Sequence[Pod], problem: str) -> Labels | None:
    """Return the node that all of these pods are on, if it may be at fault; None for a program that fails."""
    nodes = {pod.spec.node_name for pod in pods}
    return Labels({"node": nodes.pop()}) if len(nodes) == 1 and problem in ("image", "ready") else None


def _registry(pod: Pod) -> Labels:
    """Return the registry of the pod's first image."""
    image = next((one.image for one in pod.spec.containers or ()), "")
    first, slash, _ = image.partition("/")
    host = first if slash and (set(".:") & set(first) or first == "localhost") else "docker.io"
    return Labels({"component": "image-registry", "registry": host})


def _labels(pod: Pod, training: str, inventory: Inventory) -> Labels:
    namespace = pod.metadata.namespace
    if training:
        return Labels({"namespace": namespace, "training": training})
    _, kind, name = parse_workload(gpu_workload_of(pod, inventory))
    if kind == BARE_POD:
        return Labels({"namespace": namespace, "pod": name})
    return Labels({"namespace": namespace, "workload": name, "workload_type": shown_kind(kind)})


def _texts(pods: Sequence[Pod], problem: str, inventory: Inventory) -> tuple[str, ...]:
    """Return what is known of the first pods, each on a line."""
    ordered = sorted(pods, key=lambda pod: (pod.metadata.namespace, pod.metadata.name))
    lines = [_text(pod, problem, inventory) for pod in ordered[:_TEXTS]]
    if len(pods) > _TEXTS:
        names = some_of([pod.metadata.name for pod in ordered[_TEXTS:]], _TEXTS)
        lines.append(sentence("the same: {names}", names=names))
    return tuple(lines)


def _text(pod: Pod, problem: str, inventory: Inventory) -> str:
    """Return where the pod is, why its container waits or how it ended, and what its events say."""
    said = waiting_texts(pod)
    if problem in ("crash", "oom"):
        if (end := last_end(pod)) is not None:
            said = [end_text(end)]
    else:
        last = last_event(pod, inventory)
        events = [f"{last.reason}: {last.message}"] if last is not None else []
        said = events if problem == "image" and events else [*said, *events]
    reason = listed(dict.fromkeys(said), ";") or sentence("its phase is {phase}", phase=pod.status.phase)
    return sentence(
        "{pod} on {node}: {reason}", pod=pod.metadata.name, node=pod.spec.node_name, reason=reason
    )


CHECKS = (not_running,)
