"""The cluster-proportional-autoscaler's linear mode: replicas for the size of the cluster."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass

from demo.world.kube.api import Object


class BadParametersError(Exception):
    """The ConfigMap is invalid; the autoscaler uses the last valid one. The text goes into its log line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """The parameters in `data.linear`. Zero means absent."""

    cores_per_replica: float = 0.0
    nodes_per_replica: float = 0.0
    least: int = 1
    most: int = 0
    prevent_single_point_failure: bool = False
    include_unschedulable_nodes: bool = False


def linear_of(text: str) -> Linear:
    """Parse the JSON text. Keys are case-insensitive, unknown keys are ignored. Raises BadParametersError."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise BadParametersError(f"could not parse parameters ({error})") from error
    if not isinstance(found, dict):
        raise BadParametersError("could not parse parameters (not an object)")
    known = {str(key).lower(): value for key, value in found.items()}
    try:
        read = Linear(
            cores_per_replica=float(known.get("coresperreplica") or 0),
            nodes_per_replica=float(known.get("nodesperreplica") or 0),
            least=int(known.get("min") or 0) or 1,
            most=int(known.get("max") or 0),
            prevent_single_point_failure=bool(known.get("preventsinglepointfailure")),
            include_unschedulable_nodes=bool(known.get("includeunschedulablenodes")),
        )
    except (TypeError, ValueError) as error:
        raise BadParametersError(f"could not parse parameters ({error})") from error
    if read.least < 0:
        raise BadParametersError(f"min can not be negative: {read.least}")
    if read.most != 0 and read.most < read.least:
        raise BadParametersError(f"max ({read.most}) can not be less than min ({read.least})")
    if read.cores_per_replica < 0 or read.nodes_per_replica < 0:
        raise BadParametersError("coresPerReplica and nodesPerReplica can not be negative")
    if not read.cores_per_replica and not read.nodes_per_replica:
        raise BadParametersError("both coresPerReplica and nodesPerReplica are 0")
    return read


def replicas(parameters: Linear, *, nodes: int, cores: int) -> int:
    """Return the replicas. preventSinglePointFailure is applied last and may exceed the maximum."""
    by_node = _part(parameters, nodes, parameters.nodes_per_replica)
    if parameters.prevent_single_point_failure and nodes > 1:
        by_node = max(by_node, 2)
    return max(by_node, _part(parameters, cores, parameters.cores_per_replica))


def _part(parameters: Linear, size: int, per: float) -> int:
    if not per:
        return 1
    wanted = math.ceil(size / per)
    if parameters.most:
        wanted = min(wanted, parameters.most)
    return max(wanted, parameters.least)


def counted(nodes: Iterable[Object], parameters: Linear) -> tuple[int, int]:
    """Return the number of counted nodes and cores: schedulable Ready nodes, or all if the parameters say so."""
    count, cores = 0, 0.0
    for node in nodes:
        if not parameters.include_unschedulable_nodes and not _usable(node):
            continue
        count += 1
        cores += _cores(str(node.get("status", {}).get("allocatable", {}).get("cpu", "0")))
    return count, math.ceil(cores)


def _usable(node: Object) -> bool:
    ready = any(
        c["type"] == "Ready" and c["status"] == "True" for c in node.get("status", {}).get("conditions") or []
    )
    return ready and not node.get("spec", {}).get("unschedulable")


def _cores(quantity: str) -> float:
    return float(quantity[:-1]) / 1000 if quantity.endswith("m") else float(quantity)
