"""The load of a cluster's DNS: names are what it answers for, and not nodes.

Source: vivo's account of its training clusters: a server holds 30 tasks normally and up to 80, and each task has a
Service of its own.
"""

from dataclasses import dataclass
from math import ceil

from collectors.facts.proportional import Linear

TASKS_PER_NODE = 30  # the normal density at vivo: with 10 nodes per replica, 300 Services per replica
_NODES_PER_REPLICA = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsSize:
    """What requires replicas of DNS. `nodes` and `cores` are those of the whole cluster: the pods on a cordoned node
    ask on. `names`: Services, and the pods that a headless Service gives a name of their own."""

    nodes: int
    cores: float
    names: int


def names_per_replica(linear: Linear) -> float:
    return (linear.nodes_per_replica or _NODES_PER_REPLICA) * TASKS_PER_NODE


def by_names(linear: Linear, names: int) -> int:
    """Return the replicas that the names require, without `max`."""
    return max(linear.min, ceil(names / names_per_replica(linear)))


def required(linear: Linear, size: DnsSize) -> int:
    """Return the replicas that the cluster requires, without `max`: by nodes, cores or names, whichever is most."""
    return max(linear.unbounded(nodes=size.nodes, cores=size.cores), by_names(linear, size.names))


def advised(linear: Linear, size: DnsSize) -> int:
    """Return the replicas to set as `min`: what is required, within `max`, then the single-point rule."""
    within = min(required(linear, size), linear.max) if linear.max else required(linear, size)
    single = linear.prevents_single_point and size.nodes > 1
    return max(within, linear.min, 2 if single else 1)
