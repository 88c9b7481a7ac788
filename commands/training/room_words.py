"""Reasons why nodes have no room for a pod, from the nodes' own numbers: what is free, what is cordoned. Pure."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.facts.sentences import Sentence, sentence
from commands.core.cordoned_nodes import UNTIL, annotations_of, cordon_reason, cordoned_by, stands
from commands.training.placement import CORDONED, NodeCapacity, TaskRequest, node_capacities


def scattered(task: TaskRequest, resource: str, inventory: Inventory) -> str:
    """Return that there is enough in all and too little on each node; empty where there is not."""
    free = {
        one.node: one.free.get(resource, 0.0)
        for one in node_capacities(inventory, (resource,))
        if not one.bar(task) and one.free.get(resource, 0.0) > 0
    }
    asked, most = task.amounts.get(resource, 0.0), max(free.values(), default=0.0)
    if not 0 < most < asked <= sum(free.values()):
        return ""
    return sentence(
        "{free:g} {resource} are free on {nodes} nodes, and at most {most:g} on one: each of its tasks needs "
        "{asked:g} on one node",
        free=sum(free.values()),
        resource=resource,
        nodes=len(free),
        most=most,
        asked=asked,
    )


def cordoned_with_room(task: TaskRequest, capacities: Sequence[NodeCapacity]) -> tuple[str, ...]:
    """Return the cordoned nodes that would take such a task, if no other node does; else none."""
    if any(not one.bar(task) and one.holds(task) for one in capacities):
        return ()
    return tuple(one.node for one in capacities if one.closed == CORDONED and one.holds(task))


def cordon_text(node: Node) -> Sentence:
    """Return a cordoned node with who cordoned it, why, and until when."""
    name = node.metadata.name
    if not stands(node):
        return sentence("{node} (not by Yardmaster)", node=name)
    until = _until(node)
    if until is None:
        return sentence("{node} (by {who}: {why})", node=name, who=cordoned_by(node), why=cordon_reason(node))
    return sentence(
        "{node} (by {who} until {until}: {why})",
        node=name,
        who=cordoned_by(node),
        until=until,
        why=cordon_reason(node),
    )


def may_be_lifted(node: Node, now: datetime) -> bool:
    """Whether it is our cordon, and its time is over: nobody else's is proposed to be lifted."""
    until = _until(node)
    return stands(node) and until is not None and until <= now


def _until(node: Node) -> datetime | None:
    with suppress(ValueError):
        return datetime.fromisoformat(annotations_of(node).get(UNTIL, "")).astimezone(UTC)
    return None
