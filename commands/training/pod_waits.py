"""Reasons why the pods of a training wait: the scheduler's words one by one, and what keeps placed ones waiting."""

import re
from collections.abc import Iterator, Sequence

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Event, Node, Pod
from collectors.cluster.resources import gpu_resource, parse_quantity, requested
from collectors.facts.sentences import counted, listed, sentence
from collectors.trainings.scheduler_words import Refusal, refusals_of
from collectors.trainings.training import Training
from collectors.trainings.wait_reasons import WaitKind, WaitReason
from commands.training.awaited_nodes import autoscaling, awaited
from commands.training.claim_waits import unbound_claims
from commands.training.placed_waits import not_started
from commands.training.placement import node_capacities
from commands.training.room import task_of
from commands.training.room_words import cordon_text, cordoned_with_room, scattered

_NAMESPACE_QUOTA = re.compile(r"exceeded quota|failed quota")
_REFUSED = re.compile(r"(?i)forbidden|denied the request|no PriorityClass|is invalid|violates|webhook")
# From what explains most to what explains least.
_ORDER = (
    WaitKind.GPUS,
    WaitKind.RESOURCES,
    WaitKind.CLAIM,
    WaitKind.VOLUME,
    WaitKind.CORDONED,
    WaitKind.TAINT,
    WaitKind.AFFINITY,
    WaitKind.SELECTOR,
    WaitKind.NODES,
    WaitKind.UNKNOWN,
)


def rank_pods(training: Training, inventory: Inventory) -> list[Pod]:
    found = (inventory.pods.get(f"{training.namespace}/{rank.pod}") for rank in training.ranks)
    return [pod for pod in found if pod is not None]


def pod_reasons(training: Training, inventory: Inventory, events: Sequence[Event]) -> Iterator[WaitReason]:
    """Yield why its pods are not there, have no node, or have one and do not start; what explains most first."""
    pods = rank_pods(training, inventory)
    if len(pods) < training.wanted:
        yield from _not_created(events)
    unplaced = [pod for pod in pods if not pod.spec.node_name and pod.status.phase == "Pending"]
    found = [list(_not_placed(pod, inventory)) for pod in unplaced]
    # Of a gang, only some pods say what nodes lack.
    best = min(filter(None, found), key=lambda one: one[0].kind is WaitKind.UNKNOWN, default=[])
    yield from awaited(training, inventory)
    yield from best
    yield from autoscaling(unplaced, inventory)
    if unplaced and not best:
        yield WaitReason(kind=WaitKind.TURN, text=sentence("no scheduler has looked at its pods yet"))
    yield from not_started(training, [pod for pod in pods if pod.spec.node_name], inventory)


def _not_created(events: Sequence[Event]) -> Iterator[WaitReason]:
    """Yield why a controller could not create pods: the newest message of each sort."""
    kinds: set[WaitKind] = set()
    for event in sorted(events, key=lambda event: str(event.last_seen), reverse=True):
        if not event.reason.startswith("FailedCreate") or event.involved_object.kind == "Pod":
            continue
        kind = (
            WaitKind.NAMESPACE_QUOTA
            if _NAMESPACE_QUOTA.search(event.message)
            else WaitKind.REFUSED
            if _REFUSED.search(event.message)
            else WaitKind.UNKNOWN
        )
        if kind not in kinds:
            kinds.add(kind)
            text = sentence(
                "its pods cannot be created in namespace {namespace}: {words}",
                namespace=event.metadata.namespace,
                words=event.message,
            )
            yield WaitReason(kind=kind, text=text)


def _not_placed(pod: Pod, inventory: Inventory) -> Iterator[WaitReason]:
    for one in pod.status.conditions or ():
        if one.type != "PodScheduled" or one.status != "False":
            continue
        if one.reason == "SchedulingGated":
            words = one.message or one.reason
            yield WaitReason(
                kind=WaitKind.GATE, text=sentence("a scheduling gate holds its pods: {words}", words=words)
            )
            return
        nodes, refusals = refusals_of(one.message)
        if refusals:
            yield from _refused(pod, nodes, refusals, inventory)
        elif one.message:
            yield WaitReason(
                kind=WaitKind.UNKNOWN, text=sentence("the scheduler says: {words}", words=one.message)
            )


def _refused(pod: Pod, nodes: int, refusals: Sequence[Refusal], inventory: Inventory) -> Iterator[WaitReason]:
    """Yield the scheduler's reasons, with how many nodes each is about."""
    if too_large := _too_large(pod, refusals, inventory):
        yield too_large
    yield from _of_room(pod, refusals, inventory)
    ordered = sorted(
        refusals, key=lambda one: (not _tells(one, pod, inventory), _ORDER.index(one.kind), -one.count)
    )
    for one in ordered:
        text = counted(
            "of {count} node, {reason}", "of {count} nodes, {reason}", count=nodes, reason=one.text
        )
        if one.kind is WaitKind.CORDONED and (nodes_of := _cordoned(pod, inventory)):
            text = sentence(
                "{reason}: {nodes}", reason=text, nodes=listed(map(cordon_text, nodes_of), most=4)
            )
        if one.kind is WaitKind.VOLUME and (claims := unbound_claims(pod, inventory)):
            text = listed(claims, ";")
        yield WaitReason(kind=one.kind, text=text, resource=one.what if one.kind is WaitKind.GPUS else "")


def _of_room(pod: Pod, refusals: Sequence[Refusal], inventory: Inventory) -> Iterator[WaitReason]:
    """Yield what the nodes' own numbers say of GPUs that are lacking: they are scattered, or on cordoned nodes."""
    lacking = next((one.what for one in refusals if one.kind is WaitKind.GPUS), "")
    if not lacking or not inventory.nodes:
        return
    task = task_of(pod)
    if any(one.kind is WaitKind.CORDONED for one in refusals) and (
        names := cordoned_with_room(task, node_capacities(inventory, list(task.amounts)))
    ):
        text = sentence(
            "only nodes that are cordoned have room for it: {nodes}",
            nodes=listed([cordon_text(inventory.nodes[name]) for name in names], most=6),
        )
        yield WaitReason(kind=WaitKind.CORDONED, text=text)
    elif said := scattered(task, lacking, inventory):
        yield WaitReason(kind=WaitKind.GPUS, resource=lacking, text=said)


def _tells(one: Refusal, pod: Pod, inventory: Inventory) -> bool:
    """Whether it is about nodes that the pod could use: those of its selector that have such GPUs at all."""
    if one.is_of_control_plane:
        return False
    usable = _usable(pod, inventory)
    if not inventory.nodes:
        return True
    if one.kind is WaitKind.SELECTOR:
        return not usable or not pod.spec.node_selector
    if not usable:
        return True
    if one.kind is WaitKind.CORDONED:
        return any(node.spec.unschedulable for node in usable)
    if one.kind is WaitKind.TAINT:
        return any(
            taint.key == one.what or not one.what for node in usable for taint in node.spec.taints or ()
        )
    if one.kind is WaitKind.GPUS:
        return any(not node.spec.unschedulable and _amount(node, one.what) for node in usable)
    return True


def _usable(pod: Pod, inventory: Inventory) -> list[Node]:
    """Return the nodes that its selector selects and that have the GPUs that it asks for."""
    wanted = pod.spec.node_selector or {}
    resources = [name for name in _gpu_names(pod) if requested(pod.spec, name)]
    return [
        node
        for node in inventory.nodes.values()
        if all((node.metadata.labels or {}).get(key) == value for key, value in wanted.items())
        and all(_amount(node, name) for name in resources)
    ]


def _too_large(pod: Pod, refusals: Sequence[Refusal], inventory: Inventory) -> WaitReason | None:
    """Return that no node has so many GPUs, whoever ends."""
    for one in refusals:
        if one.kind is not WaitKind.GPUS:
            continue
        most = max((_amount(node, one.what) for node in inventory.nodes.values()), default=0.0)
        asked = requested(pod.spec, one.what)
        if inventory.nodes and 0 < most < asked:
            return WaitReason(
                kind=WaitKind.TOO_LARGE,
                resource=one.what,
                text=sentence(
                    "each of its tasks asks for {asked:g} {resource}, and no node has more than {most:g}",
                    asked=asked,
                    resource=one.what,
                    most=most,
                ),
            )
    return None


def _cordoned(pod: Pod, inventory: Inventory) -> list[Node]:
    found = [node for node in _usable(pod, inventory) if node.spec.unschedulable]
    return sorted(found, key=lambda node: node.metadata.name)


def _gpu_names(pod: Pod) -> set[str]:
    containers = pod.spec.containers or ()
    return {
        name
        for one in containers
        for amounts in (one.resources.limits, one.resources.requests)
        for name in amounts or {}
        if gpu_resource(name)
    }


def _amount(node: Node, resource: str) -> float:
    return parse_quantity((node.status.allocatable or {}).get(resource) or 0)
