"""The arithmetic of cluster-proportional-autoscaler in linear mode, as in its source (v1.10).

https://github.com/kubernetes-sigs/cluster-proportional-autoscaler, linearcontroller/linear_controller.go
"""

import json
from dataclasses import dataclass
from math import ceil, inf

_MOST = 2**31 - 1  # replicas: an int32 in Kubernetes
_LEAST = 1e-9  # per replica: dividing by less may overflow
TASKS_PER_NODE = 30  # the normal density at vivo: with 10 nodes per replica, 300 Services per replica


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """`data.linear`. A per-replica value of 0 is not used; a `max` of 0 is no maximum."""

    cores_per_replica: float = 0
    nodes_per_replica: float = 0
    min: int = 1
    max: int = 0
    prevents_single_point: bool = False
    counts_unschedulable: bool = False

    def replicas(self, *, nodes: int, cores: float) -> int:
        """Return the replicas that the autoscaler sets. As upstream, the single-point rule comes after the bounds."""
        by_nodes = self._part(nodes, self.nodes_per_replica)
        if self.prevents_single_point and nodes > 1:
            by_nodes = max(by_nodes, 2)
        return max(by_nodes, self._part(ceil(cores), self.cores_per_replica))

    def unbounded(self, *, nodes: int, cores: float) -> int:
        """Return the replica count without `max`. If it exceeds `max`, the autoscaler is at its maximum."""
        free = Linear(
            cores_per_replica=self.cores_per_replica,
            nodes_per_replica=self.nodes_per_replica,
            min=self.min,
            prevents_single_point=self.prevents_single_point,
        )
        return free.replicas(nodes=nodes, cores=cores)

    def _part(self, count: float, per: float) -> int:
        if per == 0:
            return 1
        return int(max(self.min, min(self.max or inf, ceil(count / per))))


def read_linear(text: str) -> Linear:
    """Parse `data.linear`. Raises ValueError where the autoscaler rejects the text and keeps the old count."""
    try:
        raw = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise ValueError("it is not a JSON object")
    keys = {str(key).lower(): value for key, value in raw.items()}
    try:
        linear = Linear(
            cores_per_replica=float(keys.get("coresperreplica") or 0),
            nodes_per_replica=float(keys.get("nodesperreplica") or 0),
            min=int(keys.get("min") or 0) or 1,
            max=int(keys.get("max") or 0),
            prevents_single_point=bool(keys.get("preventsinglepointfailure")),
            counts_unschedulable=bool(keys.get("includeunschedulablenodes")),
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"a value is not a number: {error}") from error
    if any(
        not 0 <= per < inf or 0 < per < _LEAST for per in (linear.cores_per_replica, linear.nodes_per_replica)
    ):
        raise ValueError("a per-replica value is negative, not a number, or too small to divide by")
    if max(linear.min, linear.max) > _MOST:
        raise ValueError(f"a bound is above {_MOST}")
    if linear.min < 0 or (linear.max and linear.max < linear.min):
        raise ValueError(f"max ({linear.max}) is below min ({linear.min})")
    if not linear.cores_per_replica and not linear.nodes_per_replica:
        raise ValueError("neither coresPerReplica nor nodesPerReplica is set")
    return linear


def with_bounds(text: str, *, min: int, max: int) -> str:
    """Return the document with these bounds; every other key keeps its value and its order."""
    raw = json.loads(text)
    for name, value in (("min", min), ("max", max)):
        own = next((key for key in raw if str(key).lower() == name), name)
        if name == "max" and not value:
            continue
        raw[own] = value
    return json.dumps(raw)


def services_rule(linear: Linear, *, services: int) -> int:
    """Return the replicas that the number of Services requires: records are the load, not nodes (vivo)."""
    per = (linear.nodes_per_replica or 10) * TASKS_PER_NODE
    return max(linear.min, ceil(services / per))
