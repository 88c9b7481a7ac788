"""This file says whether tasks will fit: it places them on the nodes as the scheduler counts. Pure.

It is advice, not a promise: pods that are bound but not yet shown, quotas and queues are not in sight. Source:
the scheduler's `noderesources/fit.go`, `tainttoleration` and `nodeaffinity` plugins.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node, Pod
from collectors.cluster.resources import gpu_resource, holds_resources, is_ready, parse_quantity, requested

PODS = "pods"  # the resource that every pod takes one of
UNBOUNDED = 1_000_000
_KEEPS_OFF = ("NoSchedule", "NoExecute")
_SAID_ALREADY = frozenset(
    {
        "node.kubernetes.io/unschedulable",
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    }
)
_DUST = 1e-9  # quantities are read as floats


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRequest:
    """Equal tasks of one role. Each takes `amounts` (by resource name, in its own unit) and one pod."""

    role: str
    count: int
    amounts: Mapping[str, float]
    node_selector: Mapping[str, str]
    tolerates: frozenset[str] = frozenset()  # taint keys


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCapacity:
    """What a node has left. `closed` says why no new pod gets there, whatever it asks for."""

    node: str
    free: Mapping[str, float]
    labels: Mapping[str, str]
    taints: tuple[str, ...] = ()  # keys that keep pods off which do not tolerate them
    closed: str = ""

    def bar(self, task: TaskRequest) -> str:
        """What keeps this need off the node before amounts are looked at; empty for nothing."""
        if any(self.labels.get(key) != value for key, value in task.node_selector.items()):
            return "not selected"
        if self.closed:
            return self.closed
        return next((f"tainted {key}" for key in self.taints if key not in task.tolerates), "")

    def holds(self, task: TaskRequest) -> int:
        """How many tasks of this need have room here by amounts alone."""
        asked = {PODS: 1.0, **task.amounts}
        capacities = [
            int((self.free.get(name, 0.0) + _DUST) // one) for name, one in asked.items() if one > 0
        ]
        return max(0, min(capacities, default=UNBOUNDED))

    def less(self, task: TaskRequest, times: int) -> "NodeCapacity":
        """The room after so many tasks moved in."""
        asked = {PODS: 1.0, **task.amounts}
        left = {name: amount - times * asked.get(name, 0.0) for name, amount in self.free.items()}
        return replace(self, free=left)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """How far the tasks fit. `short` is the first need that does not, with `rooms` as the others left them."""

    placed: tuple[tuple[str, str, int], ...]  # role, node, how many
    capacities: tuple[NodeCapacity, ...]
    short: TaskRequest | None = None
    fitting: int = 0  # tasks of the short need that do fit

    @property
    def is_whole(self) -> bool:
        return self.short is None


def node_capacities(inventory: Inventory, resources: Iterable[str]) -> tuple[NodeCapacity, ...]:
    """What every node has left of these resources, by allocatable minus requested, nominated pods counted."""
    names = tuple(dict.fromkeys([*resources, PODS]))
    waiting: dict[str, list[Pod]] = {}
    for pod in inventory.pods.values():
        if not pod.spec.node_name and pod.status.nominated_node_name and holds_resources(pod):
            waiting.setdefault(pod.status.nominated_node_name, []).append(pod)
    return tuple(
        _capacity(node, [*inventory.pods_on(name), *waiting.get(name, ())], names)
        for name, node in sorted(inventory.nodes.items())
    )


def _capacity(node: Node, pods: Sequence[Pod], names: Sequence[str]) -> NodeCapacity:
    held = [pod for pod in pods if holds_resources(pod)]
    free: dict[str, float] = {}
    for name in names:
        given = (node.status.allocatable or {}).get(name)
        taken = len(held) if name == PODS else sum(requested(pod.spec, name) for pod in held)
        if given is not None:
            free[name] = parse_quantity(given) - taken
    closed = "cordoned" if node.spec.unschedulable else "" if is_ready(node) else "not ready"
    if node.metadata.deletion_timestamp:
        closed = "being removed"
    return NodeCapacity(
        node=node.metadata.name,
        free=free,
        labels=node.metadata.labels or {},
        taints=tuple(
            taint.key
            for taint in node.spec.taints or ()
            if taint.effect in _KEEPS_OFF and taint.key not in _SAID_ALREADY
        ),
        closed=closed,
    )


def place(tasks: Sequence[TaskRequest], capacities: Sequence[NodeCapacity]) -> Placement:
    """Place all tasks. Either order of the needs is tried: small tasks may stand in the way of large ones."""
    wanted = [task for task in tasks if task.count]
    first = _place_in_order(wanted, capacities)
    if first.is_whole or len(wanted) < 2:
        return first
    second = _place_in_order(list(reversed(wanted)), capacities)
    return second if second.is_whole else first


def _place_in_order(tasks: Sequence[TaskRequest], capacities: Sequence[NodeCapacity]) -> Placement:
    left = {capacity.node: capacity for capacity in capacities}
    placed: list[tuple[str, str, int]] = []
    for number, task in enumerate(tasks):
        later = tasks[number + 1 :]
        missing = task.count
        for capacity in sorted(left.values(), key=lambda capacity: _cost(capacity, task, later)):
            times = 0 if capacity.bar(task) else min(missing, left[capacity.node].holds(task))
            if times:
                placed.append((task.role, capacity.node, times))
                left[capacity.node] = left[capacity.node].less(task, times)
                missing -= times
        if missing:
            return Placement(
                placed=tuple(placed),
                capacities=tuple(left.values()),
                short=task,
                fitting=task.count - missing,
            )
    return Placement(placed=tuple(placed), capacities=tuple(left.values()))


def _cost(capacity: NodeCapacity, task: TaskRequest, later: Sequence[TaskRequest]) -> tuple[int, int, str]:
    """Nodes first where this need takes least from the later ones; among those the ones that hold most of it."""
    harm = sum(
        other_before - capacity.less(task, 1).holds(other)
        for other in later
        if not capacity.bar(other) and (other_before := capacity.holds(other))
    )
    hosts_others = sum(capacity.holds(other) for other in later if not capacity.bar(other))
    return (
        harm,
        (1 if hosts_others else 0) * UNBOUNDED - min(capacity.holds(task), UNBOUNDED - 1),
        capacity.node,
    )


def main_resource(task: TaskRequest) -> str:
    """The resource to speak of first: the GPUs, where any are asked for."""
    return next((name for name in task.amounts if gpu_resource(name)), next(iter(task.amounts), PODS))
