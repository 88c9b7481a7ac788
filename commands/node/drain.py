"""`node drain`: cordon a node, then evict its pods side by side, each when its disruption budget lets it go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import click

from collectors.cluster.objects import Node
from collectors.facts.sentences import Sentence, counted, listed, sentence
from collectors.facts.topology import Topology
from commands.core.command import Command, PlanDraft
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import cordoned_by
from commands.core.evictions import (
    AT_ONCE,
    EVICTED_WITHIN,
    Stays,
    controller_of,
    disruptions_of,
    eviction_of,
    facts_on,
    pod_name,
    users_of,
    why_stays,
)
from commands.core.lookups import read_node, reader_of
from commands.core.parameter_types import NODE, ask_owners_option, lasting_option, reason_option
from commands.core.pricing import stakes_of
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Stage, in_order
from commands.execution.rights import Right
from commands.execution.steps import Evict, Patch
from commands.gates.price import least_first
from commands.node.cordon_steps import cordon_steps
from commands.training.stop import lost_work

NAMED = 8  # pods and trainings in a note


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
    evicted = sorted((pod for pod in pods if not why_stays(pod)), key=pod_name)
    lasting = action.lasting if action.lasting is not None else context.defaults.cordon_for
    cordon = () if node.spec.unschedulable else tuple(cordon_steps(node, action.reason, context, lasting))
    topology = context.cluster.topology()
    disrupts = disruptions_of(evicted, topology, name)
    stakes = await stakes_of(disrupts, context)
    users = users_of(evicted, topology, name)
    evicted = least_first(evicted, lambda pod: users[pod_name(pod)], stakes)
    evictions = (Stage(steps=tuple(map(eviction_of, evicted)), at_once=AT_ONCE),) if evicted else ()
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


async def _training_notes(
    pods: Sequence[Mapping[str, Any]], topology: Topology, node: str, context: CommandContext
) -> list[str]:
    """Return what each training on the node loses. One that loses a rank usually restarts or stops as a whole."""
    facts = facts_on(topology, node)
    hit = {fact.training for pod in pods if (fact := facts.get(pod_name(pod))) is not None}
    trainings = [training for training in context.cluster.trainings() if training.id in hit]
    notes: list[str] = [
        listed((training.shown, await lost_work(training, context)), ":") for training in trainings[:NAMED]
    ]
    if trainings:
        said = sentence(
            "A training that loses a rank is started again as a whole, or fails: see its retries."
        )
        notes.insert(0, said)
    if (more := len(trainings) - NAMED) > 0:
        notes.append(counted("… and {count} more training.", "… and {count} more trainings.", count=more))
    return notes


def _left(number: int, reason: Stays) -> Sentence:
    match reason:
        case Stays.STATIC:
            return sentence("{number} static", number=number)
        case Stays.FINISHED:
            return sentence("{number} finished", number=number)
        case Stays.OF_DAEMON_SET:
            return sentence("{number} of a DaemonSet", number=number)


def _pod_notes(pods: Sequence[Mapping[str, Any]], evicted: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return notes on pods that are lost for good, on data that is lost, on the pods that stay, and on the time."""
    notes: list[str] = []
    if bare := [pod for pod in evicted if controller_of(pod) is None]:
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


def _names(pods: Sequence[Mapping[str, Any]]) -> Sentence:
    return listed(map(pod_name, pods), most=NAMED)


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
