"""`node drain`: cordon a node, then evict its pods side by side, each when its disruption budget lets it go."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto
from math import inf
from typing import Any

import click

from collectors.cluster.indexes import kind_in_api
from collectors.cluster.objects import Node
from collectors.facts.sentences import Sentence, counted, listed, sentence
from collectors.facts.topology import PodFacts, Topology
from collectors.facts.workload_keys import workload_key
from collectors.trainings.training import Training
from commands.core.command import Command, PlanDraft
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import cordoned_by
from commands.core.lookups import read_node, reader_of
from commands.core.parameter_types import NODE, ask_owners_option, lasting_option, reason_option
from commands.core.pricing import stakes_of
from commands.execution.disruption import Disruption
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Stage, in_order
from commands.execution.rights import Right
from commands.execution.steps import Evict, Patch
from commands.gates.price import least_first
from commands.node.cordon_steps import cordon_steps
from commands.training.stop import lost_work

AT_ONCE = 10  # pods that are being ended at the same time; those that wait for a budget do not count
EVICTED_WITHIN = timedelta(hours=1)  # from the first attempt until a pod is gone
NAMED = 8  # pods and trainings in a note

_MIRROR = "kubernetes.io/config.mirror"  # the annotation of a static pod, which only its kubelet can end


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainNode:
    node: str
    reason: str
    lasting: timedelta | None
    ask_owners: bool = False


async def drain(action: DrainNode, context: CommandContext) -> PlanDraft:
    """Plan to cordon the node and to evict its pods. Those of DaemonSets, static and finished ones are left."""
    node = await read_node(action.node, context)
    name = node.metadata.name
    reader = reader_of(context)
    pods = await reader.listing(ObjectRef(api="v1", kind="Pod", name=""), fields=f"spec.nodeName={name}")
    evicted = sorted((pod for pod in pods if not why_stays(pod)), key=_name)
    lasting = action.lasting if action.lasting is not None else context.defaults.cordon_for
    cordon = () if node.spec.unschedulable else tuple(cordon_steps(node, action.reason, context, lasting))
    topology = context.cluster.topology()
    disrupts = disruptions_of(evicted, topology, name)
    stakes = await stakes_of(disrupts, context)
    users = _users(evicted, topology, name)
    evicted = least_first(evicted, lambda pod: users[_name(pod)], stakes)
    evictions = (Stage(steps=tuple(map(_eviction, evicted)), at_once=AT_ONCE),) if evicted else ()
    if not cordon and not evictions:
        return PlanDraft(
            title="",
            nothing_to_do=sentence("{node} is already cordoned and has no pods to evict.", node=name),
        )
    return PlanDraft(
        title=counted(
            "Drain {node}: evict {count} pod",
            "Drain {node}: evict {count} pods",
            node=name,
            count=len(evicted),
        ),
        stages=(*in_order(*cordon), *evictions),
        disrupts=disrupts,
        stakes=stakes,
        ask_owners=action.ask_owners,
        decided=(
            sentence("drain node {node} with uid {uid}", node=name, uid=node.metadata.uid),
            sentence("{at_once} pods at once, each within {limit}", at_once=AT_ONCE, limit=EVICTED_WITHIN),
        ),
        notes=(
            *await _training_notes(evicted, topology, name, context),
            *_pod_notes(pods, evicted),
            _cordon_note(node, lasting),
        ),
    )


def _eviction(pod: Mapping[str, Any]) -> Evict:
    meta = pod["metadata"]
    return Evict(
        ref=ObjectRef(api="v1", kind="Pod", namespace=meta["namespace"], name=meta["name"], uid=meta["uid"]),
        description=sentence("evict {pod}", pod=_name(pod)),
        seconds=EVICTED_WITHIN.total_seconds(),
    )


class _Stays(Enum):
    """Why a drain leaves a pod on its node."""

    STATIC = auto()
    FINISHED = auto()
    OF_DAEMON_SET = auto()


def why_stays(pod: Mapping[str, Any]) -> _Stays | None:
    """Return why a drain leaves the pod on its node; None if it is evicted."""
    if _MIRROR in (pod["metadata"].get("annotations") or {}):
        return _Stays.STATIC
    if pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
        return _Stays.FINISHED
    owner = _controller(pod)
    return _Stays.OF_DAEMON_SET if owner is not None and owner["kind"] == "DaemonSet" else None


def _left(number: int, reason: _Stays) -> Sentence:
    match reason:
        case _Stays.STATIC:
            return sentence("{number} static", number=number)
        case _Stays.FINISHED:
            return sentence("{number} finished", number=number)
        case _Stays.OF_DAEMON_SET:
            return sentence("{number} of a DaemonSet", number=number)


def _controller(pod: Mapping[str, Any]) -> Mapping[str, Any] | None:
    owners: Sequence[Mapping[str, Any]] = pod["metadata"].get("ownerReferences") or ()
    return next((owner for owner in owners if owner.get("controller")), None)


def disruptions_of(
    pods: Sequence[Mapping[str, Any]], topology: Topology, node: str
) -> tuple[Disruption, ...]:
    """Return the trainings and workloads whose pods are evicted, those with the most GPUs first."""
    facts, users = _facts_on(topology, node), _users(pods, topology, node)
    by_name: dict[str, list[PodFacts]] = {}
    for pod in pods:
        fact = facts.get(_name(pod)) or PodFacts(
            namespace=pod["metadata"]["namespace"], name=pod["metadata"]["name"]
        )
        by_name.setdefault(users[_name(pod)], []).append(fact)
    running = {_name(pod) for pod in pods if pod.get("status", {}).get("phase") == "Running"}
    bare = {_name(pod) for pod in pods if _controller(pod) is None}  # no controller starts them again
    found: list[Disruption] = []
    for name, members in by_name.items():
        training, user = topology.trainings.get(name), topology.user(name)
        found.append(
            Disruption(
                name=name,
                shown=user.shown if user else "",
                owner=user.owner if user else "",
                team=user.team if user else "",
                ends=any(
                    one in running and (training is not None or one in bare)
                    for one in (f"{member.namespace}/{member.name}" for member in members)
                ),
                pods=sum(f"{one.namespace}/{one.name}" in running for one in members),
                gpus=sum(member.gpus for member in members),
                text=counted(
                    "{evicted} of {count} rank",
                    "{evicted} of {count} ranks",
                    evicted=len(members),
                    count=training.ranks,
                )
                if training
                else counted("{count} pod", "{count} pods", count=len(members)),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.gpus, one.name)))


def _users(pods: Sequence[Mapping[str, Any]], topology: Topology, node: str) -> dict[str, str]:
    """Return the training or workload of each pod, by the pod's name."""
    facts = _facts_on(topology, node)
    found: dict[str, str] = {}
    for pod in pods:
        fact = facts.get(_name(pod))
        found[_name(pod)] = (fact.training or fact.workload if fact else "") or _workload(pod)
    return found


def _workload(pod: Mapping[str, Any]) -> str:
    owner = _controller(pod)
    namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
    if owner is None:
        return workload_key(namespace, "Pod", name)
    return workload_key(namespace, kind_in_api(owner["kind"], owner.get("apiVersion", "")), owner["name"])


def _facts_on(topology: Topology, node: str) -> dict[str, PodFacts]:
    return {f"{pod.namespace}/{pod.name}": pod for pod in topology.pods_on.get(node, ())}


async def _training_notes(
    pods: Sequence[Mapping[str, Any]], topology: Topology, node: str, context: CommandContext
) -> list[str]:
    """Return what each training on the node loses, and whether it goes on."""
    facts = _facts_on(topology, node)
    hit = Counter(fact.training for pod in pods if (fact := facts.get(_name(pod))) is not None)
    trainings = [training for training in context.cluster.trainings() if hit[training.id]]
    notes: list[str] = [
        sentence(
            "{training}: {fate} {lost}",
            training=training.shown,
            fate=_fate(training, hit[training.id]),
            lost=await lost_work(training, context),
        )
        for training in trainings[:NAMED]
    ]
    if (more := len(trainings) - NAMED) > 0:
        notes.append(counted("… and {count} more training.", "… and {count} more trainings.", count=more))
    return notes


def _fate(training: Training, lost: int) -> Sentence:
    """Return what becomes of a training that loses so many ranks, by the retries that its objects say it has left."""
    retries = training.retries
    if retries is None:
        return sentence("Whether its controller starts it again, or it fails for good, is not known.")
    if not retries.survives(lost):
        return sentence("It fails for good: it has no retry left for that.")
    if retries.pods == inf:
        return sentence(
            "Its controller starts the evicted ranks again: a disruption does not count as a failure."
        )
    if lost <= retries.pods:
        return counted(
            "Its controller starts the evicted ranks again: {count:g} retry is left.",
            "Its controller starts the evicted ranks again: {count:g} retries are left.",
            count=retries.pods,
        )
    return counted(
        "Its controller starts it again as a whole: {count} restart is left.",
        "Its controller starts it again as a whole: {count} restarts are left.",
        count=retries.whole,
    )


def _pod_notes(pods: Sequence[Mapping[str, Any]], evicted: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return notes on pods that are lost for good, on data that is lost, on the pods that stay, and on the time."""
    notes: list[str] = []
    if bare := [pod for pod in evicted if _controller(pod) is None]:
        notes.append(
            sentence("No controller recreates these; they are gone for good: {pods}.", pods=_names(bare))
        )
    if storing := [pod for pod in evicted if _has_local_storage(pod)]:
        notes.append(sentence("Data in the emptyDir volumes of these is lost: {pods}.", pods=_names(storing)))
    left = [reason for pod in pods if (reason := why_stays(pod))]
    if left:
        counts = [_left(left.count(reason), reason) for reason in dict.fromkeys(left)]
        notes.append(sentence("These pods stay: {counts}.", counts=listed(counts)))
    grace = max((pod["spec"].get("terminationGracePeriodSeconds") or 0 for pod in evicted), default=0)
    if grace > 60:
        notes.append(
            sentence(
                "A pod may take {grace} to end: its grace period is kept.",
                grace=timedelta(seconds=grace),
            )
        )
    return notes


def _has_local_storage(pod: Mapping[str, Any]) -> bool:
    """Whether it has a volume on the node's disk that ends with it; one in memory holds nothing that lasts."""
    volumes: Sequence[Mapping[str, Any]] = pod["spec"].get("volumes") or ()
    return any("emptyDir" in one and (one["emptyDir"] or {}).get("medium") != "Memory" for one in volumes)


def _cordon_note(node: Node, lasting: timedelta) -> str:
    name = node.metadata.name
    if node.spec.unschedulable:
        return sentence(
            "{node} is already cordoned by {who}: that stays, also after an undo.",
            node=name,
            who=cordoned_by(node),
        )
    return sentence(
        "The lease ends in {lasting} with a reminder. Undoing this plan lifts the cordon, "
        "but brings no pod back.",
        lasting=lasting,
    )


def _name(pod: Mapping[str, Any]) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _names(pods: Sequence[Mapping[str, Any]]) -> Sentence:
    return listed(map(_name, pods), most=NAMED)


DRAIN = Command(
    noun="node",
    verb="drain",
    summary="Cordon a node and evict its pods, as disruption budgets allow.",
    action=DrainNode,
    parameters=(
        click.Argument(["node"], type=NODE),
        reason_option("why, shown with the cordon"),
        lasting_option("how long the lease lasts; default: 4h, or the settings"),
        ask_owners_option(),
    ),
    plan=drain,
    rights=(
        *Patch.rights("", "nodes"),
        *Evict.rights("", "pods"),
        Right(group="", resources=("pods",), verbs=("list",)),
    ),
    example='node drain gpu-a04 --reason "replace GPU 3"',
    details=(
        sentence(
            "Pods of DaemonSets, static pods and finished pods stay. Pods without a controller "
            "and pods with emptyDir volumes are evicted too, and the preview names them. A pod "
            "whose disruption budget allows no disruption is tried again until it is gone, for "
            "at most {limit}; the plan's card shows which budget it waits for. Every "
            "pod has its own grace period. Undo lifts the cordon.",
            limit=EVICTED_WITHIN,
        )
    ),
)
