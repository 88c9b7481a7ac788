"""The check of nodes whose logs do not arrive: what nobody ships is unknown, and not quiet."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from collectors.check import CheckInput, ClusterCheck
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node
from collectors.cluster.resources import gpu_resource
from collectors.facts.label_mapping import subject_of
from collectors.facts.labels import Labels
from collectors.facts.queries import LogQuery
from collectors.facts.results import Blind, Sample
from collectors.facts.sentences import counted
from collectors.topology_builder import build_topology

WINDOW = timedelta(minutes=15)
NOW = LogQuery(by=("node",), over=WINDOW)
BEFORE = LogQuery(by=("node",), over=timedelta(hours=6))  # a node that never shipped is not missed
_ALL = 0.5  # of the nodes of one kind that ship; above it, each of them should, however long it has not


@partial(
    ClusterCheck,
    name="logs-missing",
    summary="a ready node's log lines do not arrive any more",
    needs={"inventory", "logs"},
    logs=(NOW, BEFORE),
)
def silent(inputs: CheckInput, _parameters: Mapping[str, Any]) -> Sequence[Sample]:
    """Return a sample for each ready node without a line in 15 minutes that had some before; the value is 1.

    Or that had none for long, while most nodes like it, with GPUs or without, have. If no node has any, it is one
    sample about the logs. Lines that name no node of the cluster may be of as many nodes that seem to have none.
    """
    assert not isinstance(inputs.inventory, Blind)
    assert not isinstance(inputs.logs, Blind)
    now, before = inputs.logs or ((), ())
    shipping, unknown = _nodes(now, inputs.inventory)
    shipped, _ = _nodes(before, inputs.inventory)
    known = {labels.get("node", "") for labels in inputs.standing}  # longer ago than the search goes back
    ready = {name: node for name, node in inputs.inventory.nodes.items() if _is_expected(node, inputs.at)}
    if not shipping:
        texts = (
            counted(
                "{count} node had lines in the last hours",
                "{count} nodes had lines in the last hours",
                count=len(shipped),
            ),
        )
        return (
            [Sample(labels=Labels({"component": "logs"}), value=len(shipped), texts=texts)]
            if (shipped or known) and not unknown
            else []
        )
    missing = [
        name
        for alike in _alike(ready)
        for name in sorted(alike - shipping)
        if name in shipped | known or len(alike & shipping) > _ALL * len(alike)
    ]
    if len(missing) <= len(unknown):
        return []
    return [Sample(labels=Labels({"node": name}), value=1) for name in missing]


def _nodes(samples: Sequence[Sample], inventory: Inventory) -> tuple[set[str], set[str]]:
    """Return the nodes that the samples name, and the names that do not belong to a node."""
    topology = build_topology(inventory, (), cluster="")
    found = {topology.complete(subject_of(sample.labels)).node for sample in samples} - {""}
    return found & inventory.nodes.keys(), found - inventory.nodes.keys()


def _is_expected(node: Node, at: datetime) -> bool:
    """Whether the node has been there and ready for long enough that its lines must have arrived."""
    changes = [one.last_transition_time for one in node.status.conditions or () if one.type == "Ready"]
    since = [moment for moment in (node.metadata.creation_timestamp, *changes) if moment is not None]
    return is_node_ready(node) is True and all(at - moment >= WINDOW for moment in since)


def _alike(nodes: Mapping[str, Node]) -> Iterator[set[str]]:
    """Yield the nodes with GPUs, and those without: some ship only the logs of one kind."""
    with_gpus = {name for name, node in nodes.items() if any(map(gpu_resource, node.status.capacity or {}))}
    yield with_gpus
    yield nodes.keys() - with_gpus


CHECKS = (silent,)
