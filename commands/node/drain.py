"""`node drain`: cordon nodes, then evict their pods side by side, each when its disruption budget lets it go."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from collectors.cluster.objects import Node
from collectors.facts.clock import format_duration
from collectors.facts.sentences import counted, listed, sentence
from commands.core.command import Command, PlanDraft
from commands.core.context import CommandContext
from commands.core.cordoned_nodes import cordoned_by
from commands.core.drain_pods import (
    AT_ONCE,
    EVICTED_WITHIN,
    NAMED_IN_NOTES,
    disruptions_of,
    eviction_of,
    pod_name,
    pod_notes,
    users_of,
    why_stays,
)
from commands.core.lookups import read_node, reader_of
from commands.core.parameters import NODES_ARGUMENT, ask_owners_option, lasting_option, reason_option
from commands.core.pricing import stakes_of
from commands.execution.disruption import Disruption
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Stage, in_order
from commands.execution.rights import Right
from commands.execution.steps import Evict, Patch, Record
from commands.gates.price import least_first
from commands.node.cordon_steps import cordon_steps
from commands.training.fate import fate_of
from commands.training.stop import lost_work

MOST_AT_ONCE = 50  # of all nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainNodes:
    nodes: tuple[str, ...]
    reason: str
    lasting: timedelta | None
    ask_owners: bool = False


async def drain(action: DrainNodes, context: CommandContext) -> PlanDraft:
    """Plan to cordon the nodes and to evict their pods. Those of DaemonSets, static and finished ones are left.

    All cordons come first, so that no pod moves from one of the nodes to another. Then the pods of all nodes are
    evicted side by side, in the order of what costs least over all of them.
    """
    nodes = [await read_node(name, context) for name in dict.fromkeys(action.nodes)]
    reader, topology = reader_of(context), context.cluster.topology()
    lasting = action.lasting if action.lasting is not None else context.defaults.cordon_for
    pods: list[Mapping[str, Any]] = []
    cordons: list[Patch | Record] = []
    for node in nodes:
        on_node = f"spec.nodeName={node.metadata.name}"
        pods += await reader.listing(ObjectRef(api="v1", kind="Pod", name=""), fields=on_node)
        if not node.spec.unschedulable:
            cordons += cordon_steps(node, action.reason, context, lasting)
    evicted: list[Mapping[str, Any]] = sorted((pod for pod in pods if not why_stays(pod)), key=pod_name)
    disrupts = disruptions_of(evicted, topology)
    stakes = await stakes_of(disrupts, context)
    users = users_of(evicted, topology)
    evicted = least_first(evicted, lambda pod: users[pod_name(pod)], stakes)
    at_once = min(AT_ONCE * len(nodes), MOST_AT_ONCE)
    evictions = (Stage(steps=tuple(map(eviction_of, evicted)), at_once=at_once),) if evicted else ()
    if not cordons and not evictions:
        idle = [
            sentence("{node} is already cordoned and has no pods to evict.", node=node.metadata.name)
            for node in nodes
        ]
        return PlanDraft.nothing(listed(idle, "."))
    return PlanDraft(
        title=counted(
            "Drain {node}: evict {count} pod",
            "Drain {node}: evict {count} pods",
            node=listed(node.metadata.name for node in nodes),
            count=len(evicted),
        ),
        stages=(*in_order(*cordons), *evictions),
        lines=node_by_node(action),
        disrupts=disrupts,
        stakes=stakes,
        ask_owners=action.ask_owners,
        decided=(
            *(
                sentence("drain node {node} with uid {uid}", node=one.metadata.name, uid=one.metadata.uid)
                for one in nodes
            ),
            sentence(
                "{at_once} pods of a node at once, each within {limit}",
                at_once=AT_ONCE,
                limit=EVICTED_WITHIN,
            ),
        ),
        notes=(
            *await _training_notes(disrupts, context),
            *pod_notes(pods, evicted),
            *_cordon_notes(nodes, lasting),
        ),
    )


def node_by_node(action: DrainNodes) -> tuple[str, ...]:
    """Return the lines that drain the nodes one by one; none for one node."""
    if len(nodes := tuple(dict.fromkeys(action.nodes))) < 2:
        return ()
    options = [
        *(("--reason", action.reason) if action.reason else ()),
        *(("--for", format_duration(action.lasting)) if action.lasting is not None else ()),
        *(("--ask-owners",) if action.ask_owners else ()),
    ]
    return tuple(shlex.join(("node", "drain", node, *options)) for node in nodes)


async def _training_notes(disrupts: Sequence[Disruption], context: CommandContext) -> list[str]:
    """Return what each training on the nodes loses, and whether it goes on."""
    lost = {one.name: one.pods or 0 for one in disrupts}
    trainings = [training for training in context.cluster.trainings() if training.id in lost]
    notes: list[str] = [
        sentence(
            "{training}: {fate} {lost}",
            training=training.shown,
            fate=fate_of(training, lost[training.id]),
            lost=await lost_work(training, context),
        )
        for training in trainings[:NAMED_IN_NOTES]
    ]
    if (more := len(trainings) - NAMED_IN_NOTES) > 0:
        notes.append(counted("… and {count} more training.", "… and {count} more trainings.", count=more))
    return notes


def _cordon_notes(nodes: Sequence[Node], lasting: timedelta) -> list[str]:
    notes: list[str] = [
        sentence(
            "{node} is already cordoned by {who}: that stays, also after an undo.",
            node=node.metadata.name,
            who=cordoned_by(node),
        )
        for node in nodes
        if node.spec.unschedulable
    ]
    if len(notes) < len(nodes):
        notes.append(
            sentence(
                "The lease ends in {lasting} with a reminder. Undoing this plan lifts the cordon, "
                "but brings no pod back.",
                lasting=lasting,
            )
        )
    return notes


DRAIN = Command(
    noun="node",
    verb="drain",
    summary="Cordon nodes and evict their pods, as disruption budgets allow.",
    action=DrainNodes,
    parameters=(
        NODES_ARGUMENT,
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
            "Several nodes are one plan with one price: all are cordoned first, then what costs least is "
            "evicted first, whichever node it is on. If a budget has no place for all of them, "
            "each node becomes a plan of its own, which begins when there is one. "
            "Pods of DaemonSets, static pods and finished pods stay. Pods without a controller "
            "and pods with emptyDir volumes are evicted too, and the preview names them. A pod "
            "whose disruption budget allows no disruption is tried again until it is gone, for "
            "at most {limit}; the plan's card shows which budget it waits for. Every "
            "pod has its own grace period. Undo lifts the cordon.",
            limit=EVICTED_WITHIN,
        )
    ),
)
