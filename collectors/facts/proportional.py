"""The arithmetic of cluster-proportional-autoscaler in linear mode, as in its source (v1.10.3).

https://github.com/kubernetes-sigs/cluster-proportional-autoscaler, linearcontroller/linear_controller.go and
plugin/plugin.go. What its Go refuses to decode is refused here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Any, NoReturn

from collectors.facts.one_line import NAME, one_line
from collectors.facts.sentences import listed, said_by, sentence

_MOST = 2**31 - 1  # replicas: an int32 in Kubernetes
_LEAST = 1e-9  # per replica: dividing by less may overflow
LINEAR = "linear"
_KEYS = (
    "coresperreplica",
    "nodesperreplica",
    "min",
    "max",
    "preventsinglepointfailure",
    "includeunschedulablenodes",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """`data.linear`. A per-replica value of 0 is not used; a `max` of 0 means no maximum."""

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
        return replace(self, max=0).replicas(nodes=nodes, cores=cores)

    def _part(self, count: float, per: float) -> int:
        if per == 0:
            return 1
        return int(max(self.min, min(self.max or inf, ceil(count / per))))


def read_config(content: Mapping[str, str]) -> Linear:
    """Read a ConfigMap's `data`. Raises ValueError where the autoscaler rejects it and keeps the old count."""
    if len(content) != 1:
        keys = listed(one_line(key, NAME) for key in sorted(content)[:3]) or sentence("none")
        raise ValueError(sentence("it must have one key, `linear`, and it has {keys}", keys=keys))
    if LINEAR not in content:
        raise ValueError(
            sentence("it has the key `{key}`, not `linear`", key=one_line(next(iter(content)), NAME))
        )
    return read_linear(content[LINEAR])


def read_linear(text: str) -> Linear:
    """Parse `data.linear`. Raises ValueError where the autoscaler rejects the text and keeps the old count."""
    known = {str(key).lower(): value for key, value in _decoded(text).items()}
    linear = Linear(
        cores_per_replica=_number(known, "coresperreplica"),
        nodes_per_replica=_number(known, "nodesperreplica"),
        min=_whole(known, "min") or 1,
        max=_whole(known, "max"),
        prevents_single_point=_flag(known, "preventsinglepointfailure"),
        counts_unschedulable=_flag(known, "includeunschedulablenodes"),
    )
    if any(
        not 0 <= per < inf or 0 < per < _LEAST for per in (linear.cores_per_replica, linear.nodes_per_replica)
    ):
        raise ValueError(sentence("a per-replica value is negative, not a number, or too small to divide by"))
    if max(linear.min, linear.max) > _MOST:
        raise ValueError(sentence("a bound is above {most}", most=_MOST))
    if linear.min < 0 or (linear.max and linear.max < linear.min):
        raise ValueError(sentence("max ({max}) is below min ({min})", max=linear.max, min=linear.min))
    if not linear.cores_per_replica and not linear.nodes_per_replica:
        raise ValueError(sentence("neither coresPerReplica nor nodesPerReplica is set"))
    return linear


def unknown_keys(text: str) -> tuple[str, ...]:
    """Return the keys of a valid document that the autoscaler ignores, such as `servicesPerReplica`, each on a line."""
    return tuple(one_line(str(key), NAME) for key in _decoded(text) if str(key).lower() not in _KEYS)


def with_bounds(text: str, *, min: int, max: int) -> str:
    """Return the document with these bounds; every other key keeps its value and its order."""
    raw = json.loads(text)
    for name, value in (("min", min), ("max", max)):
        own = next((key for key in raw if str(key).lower() == name), name)
        if name == "max" and not value:
            continue
        raw[own] = value
    return json.dumps(raw)


def _decoded(text: str) -> dict[str, Any]:
    try:
        raw = json.loads(text, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError(sentence("it is nested too deep")) from error
    except ValueError as error:
        raise ValueError(sentence("it is not JSON: {error}", error=said_by(error))) from error
    if raw is None:  # Go decodes it to nothing
        return {}
    if not isinstance(raw, dict):
        raise ValueError(sentence("it is not a JSON object"))
    return raw


def _refuse(constant: str) -> NoReturn:
    raise ValueError(sentence("{constant} is not a number", constant=constant))


def _number(known: Mapping[str, Any], key: str) -> float:
    value = known.get(key)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(sentence("{key} is not a number", key=key))
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError(sentence("{key} is too large", key=key)) from error


def _whole(known: Mapping[str, Any], key: str) -> int:
    value = known.get(key)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(sentence("{key} is not a whole number", key=key))
    return value


def _flag(known: Mapping[str, Any], key: str) -> bool:
    value = known.get(key)
    if value is not None and not isinstance(value, bool):
        raise ValueError(sentence("{key} is neither true nor false", key=key))
    return bool(value)
