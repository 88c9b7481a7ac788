"""Likely causes of storms, the first in time and the highest in the topology, and the GPUs at stake. Pure.

What fails above takes along all that hangs on it, and before that is seen.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from alerts.incidents.incident import Incident
from alerts.parents.storm_keys import NODE_GROUPS, node_of, nodes_in, place_of_node
from alerts.rules import ImpactScope
from collectors.facts.places import PLACES
from collectors.facts.topology import Topology

BEFORE = timedelta(minutes=5)  # what began so long before the first node may have broken it
_OWN_RULES = "self/"  # the pack about Yardmaster itself
MOST = 0.75  # of a place's nodes are hit, or the place is no cause: it would have taken along the others


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelyCause:
    """What broke first, and the highest place that its nodes share; `kind` is empty if they share none.

    `node` is empty for an alert that is about no single node: then it is above them.
    """

    incident: str
    alert: str
    node: str
    at: datetime
    kind: str = ""
    name: str = ""
    hit: int = 0  # nodes of the place
    nodes: int = 0  # that it has


def likely_cause(
    members: Sequence[Incident], others: Iterable[Incident], topology: Topology
) -> LikelyCause | None:
    """Return the likely cause. `others`: the open incidents of the cluster.

    One that is about more than a node, and began before the nodes broke, comes before them all.
    """
    if not members:
        return None
    first = min(members, key=_began)
    above = [
        one for one in others if _is_above(one) and _began(first) - BEFORE <= _began(one) <= _began(first)
    ]
    leading = min(above, key=_began) if above else first
    alert = min(leading.members, key=lambda one: one.since)
    kind, name, hit, nodes = _highest_place(members, topology)
    return LikelyCause(
        incident=leading.id,
        alert=alert.name,
        node=node_of(leading),
        at=alert.since,
        kind=kind,
        name=name,
        hit=hit,
        nodes=nodes,
    )


def gpus_at_stake(members: Iterable[Incident], topology: Topology) -> float:
    """Return the GPUs on the members' nodes, and those elsewhere of the trainings that stand still with them."""
    open_ones = [one for one in members if one.is_open]
    nodes = {node_of(one) for one in open_ones} - {""}
    own = sum(facts.gpus for node in nodes if (facts := topology.nodes.get(node)) is not None)
    whole = {
        impact.training: impact.gpus
        for one in open_ones
        for impact in one.impacts
        if impact.scope is not ImpactScope.BYSTANDERS and impact.failed_at is None
    }
    here = dict.fromkeys(whole, 0.0)
    for node in nodes:
        for pod in topology.pods_on.get(node, ()):
            if pod.training in here:
                here[pod.training] += pod.gpus
    return own + sum(max(0.0, gpus - here[training]) for training, gpus in whole.items())


def _began(incident: Incident) -> datetime:
    return min((one.since for one in incident.members), default=incident.opened_at)


def _is_above(incident: Incident) -> bool:
    """Return whether it is about what many nodes hang on: neither a node, nor a workload on them, nor Yardmaster."""
    kind = incident.group_key.partition("/")[0]
    if all(one.rule.startswith(_OWN_RULES) for one in incident.members):  # that it cannot see breaks nothing
        return False
    return kind not in (*NODE_GROUPS, "training", "workload", "gpu") and not incident.parent


def _highest_place(members: Sequence[Incident], topology: Topology) -> tuple[str, str, int, int]:
    """Return the highest place that all members share, if most of its nodes are hit, with how many are and it has."""
    hit = len({node_of(one) for one in members} - {""})
    for kind in reversed(PLACES):
        names = {place_of_node(one, topology, kind) for one in members}
        if len(names) != 1 or not (name := names.pop()):
            continue
        nodes = nodes_in(kind, name, topology)
        if hit >= MOST * nodes:
            return kind, name, hit, nodes
    return "", "", 0, 0
