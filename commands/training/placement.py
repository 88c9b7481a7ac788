"""Placement of tasks on nodes, to predict whether they fit. Pure.

It is an estimate: pods bound but not yet in the cache, quotas and queues are not considered. Source: the
scheduler's `noderesources/fit.go`, `tainttoleration` and `nodeaffinity` plugins.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from collectors.cluster.conditions import is_node_ready
from collectors.cluster.device_shares import Shares, after, free_shares, times_it_fits
from collectors.cluster.inventory import Inventory
from collectors.cluster.objects import Node, Pod
from collectors.cluster.resources import gpu_resource, holds_resources, parse_quantity, requested
from collectors.facts.sentences import sentence

CORDONED = sentence("cordoned")
POD_SLOTS = "pods"  # the resource of which every pod takes one
UNBOUNDED = 1_000_000
_REPELLING = ("NoSchedule", "NoExecute")
_COVERED_BY_CLOSED = frozenset(
    {"node.kubernetes.io/unschedulable", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}
)
_EPSILON = 1e-9  # quantities are floats


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRequest:
    """Equal tasks of one role. Each takes one pod and `amounts`, by resource name and in its unit."""

    role: str
    count: int
    amounts: Mapping[str, float]
    node_selector: Mapping[str, str]
    tolerates: frozenset[str] = frozenset()  # taint keys
    not_on: tuple[str, ...] = ()  # nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCapacity:
    """The free resources of a node. `closed` is the reason why it accepts no new pods at all.

    `shares`: of each resource that may be a part of a device, what is free of each device.
    """

    node: str
    free: Mapping[str, float]
    labels: Mapping[str, str]
    taints: tuple[str, ...] = ()  # keys of taints that repel pods without a toleration
    closed: str = ""
    shares: Mapping[str, Shares] = field(default_factory=dict)

    def bar(self, task: TaskRequest) -> str:
        """Return why these tasks cannot run here regardless of amounts; empty if they can."""
        if any(self.labels.get(key) != value for key, value in task.node_selector.items()):
            return sentence("not selected")
        if self.node in task.not_on:
            return sentence("left out by --not-on")
        if self.closed:
            return self.closed
        return next(
            (sentence("tainted {taint}", taint=key) for key in self.taints if key not in task.tolerates), ""
        )

    def holds(self, task: TaskRequest) -> int:
        """Return how many of these tasks fit here by amounts alone."""
        requests = {POD_SLOTS: 1.0, **task.amounts}
        capacities = [
            int((self.free.get(name, 0.0) + _EPSILON) // one) for name, one in requests.items() if one > 0
        ]
        capacities += [
            times_it_fits(self.shares[name], one, _units(name))
            for name, one in task.amounts.items()
            if one > 0 and name in self.shares
        ]
        return max(0, min(capacities, default=UNBOUNDED))

    def less(self, task: TaskRequest, times: int) -> "NodeCapacity":
        """Return the capacity after placing so many of these tasks."""
        requests = {POD_SLOTS: 1.0, **task.amounts}
        left = {name: amount - times * requests.get(name, 0.0) for name, amount in self.free.items()}
        shares = {
            name: after(free, task.amounts[name], _units(name), times) if task.amounts.get(name) else free
            for name, free in self.shares.items()
        }
        return replace(self, free=left, shares=shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """How far the tasks fit. `short` are the first tasks that do not, with `capacities` after the others."""

    placed: tuple[tuple[str, str, int], ...]  # role, node, how many
    capacities: tuple[NodeCapacity, ...]
    short: TaskRequest | None = None
    fitting: int = 0  # how many of the `short` tasks do fit

    @property
    def is_whole(self) -> bool:
        return self.short is None


def node_capacities(
    inventory: Inventory, resources: Iterable[str], *, without: Container[str] = ()
) -> tuple[NodeCapacity, ...]:
    """Return each node's free resources: allocatable minus requested, including nominated pods.

    `without`: keys of pods that are taken to have ended.
    """
    names = tuple(dict.fromkeys([*resources, POD_SLOTS]))
    return tuple(
        _capacity(
            node,
            [
                pod
                for pod in (*inventory.pods_on(name), *inventory.pods_nominated_for(name))
                if pod.key not in without
            ],
            names,
        )
        for name, node in sorted(inventory.nodes.items())
    )


def _capacity(node: Node, pods: Sequence[Pod], names: Sequence[str]) -> NodeCapacity:
    held = [pod for pod in pods if holds_resources(pod)]
    free: dict[str, float] = {}
    for name in names:
        allocatable = (node.status.allocatable or {}).get(name)
        taken = len(held) if name == POD_SLOTS else sum(requested(pod.spec, name) for pod in held)
        if allocatable is not None:
            free[name] = parse_quantity(allocatable) - taken
    shares = {name: found for name in names if (found := free_shares(node, held, name)) is not None}
    closed: str = (
        CORDONED if node.spec.unschedulable else "" if is_node_ready(node) else sentence("not ready")
    )
    if node.metadata.deletion_timestamp:
        closed = sentence("being removed")
    return NodeCapacity(
        node=node.metadata.name,
        free=free,
        labels=node.metadata.labels or {},
        taints=tuple(
            taint.key
            for taint in node.spec.taints or ()
            if taint.effect in _REPELLING and taint.key not in _COVERED_BY_CLOSED
        ),
        closed=closed,
        shares=shares,
    )


def place(tasks: Sequence[TaskRequest], capacities: Sequence[NodeCapacity]) -> Placement:
    """Place all tasks, in both orders if needed: small tasks may block large ones."""
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
    """Sort key: nodes first where these tasks take least from later ones, then those that hold most of them."""
    loss = sum(
        other_before - capacity.less(task, 1).holds(other)
        for other in later
        if not capacity.bar(other) and (other_before := capacity.holds(other))
    )
    hosts_others = sum(capacity.holds(other) for other in later if not capacity.bar(other))
    return (
        loss,
        (1 if hosts_others else 0) * UNBOUNDED - min(capacity.holds(task), UNBOUNDED - 1),
        capacity.node,
    )


def _units(resource: str) -> float:
    meaning = gpu_resource(resource)
    return meaning.units if meaning is not None else 1


def main_resource(task: TaskRequest) -> str:
    """Return the resource to report first: the GPUs if any are requested."""
    return next((name for name in task.amounts if gpu_resource(name)), next(iter(task.amounts), POD_SLOTS))
