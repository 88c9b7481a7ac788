"""GPU counts by resource, team and node. Different resources are never added up. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from alerts.cards.message import Table
from collectors.cluster.inventory import Inventory
from collectors.cluster.resources import GpuCounts, NodeGpus, holds_resources
from collectors.facts.sentences import listed, sentence
from collectors.facts.topology import Topology
from collectors.gpu_activity import Activity, IdleSearch

MAX_NODES = 60
NO_TEAM = sentence("no team")


@dataclass(slots=True, kw_only=True)
class GpuCount:
    """GPUs of one resource. Idle GPUs are in use, so free and idle ones are disjoint."""

    capacity: float = 0
    used: float = 0
    free: float = 0
    broken: float = 0  # no longer advertised by the device plugin
    cordoned: float = 0  # kept from pods one by one
    closed: float = 0  # free, but on a node that accepts no pods
    by_team: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    idle_by_team: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def idle(self) -> float:
        return sum(self.idle_by_team.values())


def count_gpus(
    nodes: Iterable[NodeGpus], inventory: Inventory, topology: Topology, look: IdleSearch
) -> dict[str, GpuCount]:
    """Return the counts over these nodes, by resource name."""
    counted: dict[str, GpuCount] = {}
    for gpus in nodes:
        for resource, share in gpus.counts.items():
            one = counted.setdefault(resource, GpuCount())
            one.capacity += share.capacity
            one.used += share.requested
            one.broken += share.unhealthy
            one.cordoned += share.cordoned
            one.free += share.free if gpus.usable else 0
            one.closed += 0 if gpus.usable else share.free
        for pod in inventory.pods_on(gpus.node):
            key = (pod.metadata.namespace, pod.metadata.name)
            for resource, held in inventory.gpus_of(pod).items() if holds_resources(pod) else ():
                one = counted.setdefault(resource, GpuCount())
                team = team_of(key, topology)
                one.by_team[team] += held
                seen = look.pods.get(key)
                if seen is not None and seen.activity is Activity.IDLE:
                    one.idle_by_team[team] += held
    return {resource: one for resource, one in sorted(counted.items()) if one.capacity or one.used}


def team_of(pod: tuple[str, str], topology: Topology) -> str:
    facts = topology.pods.get(pod)
    user = topology.user(facts.user) if facts else None
    return (user.team if user else "") or NO_TEAM


def summary_lines(counted: Mapping[str, GpuCount], *, is_idle_known: bool) -> tuple[str, ...]:
    """Return lines like `nvidia.com/gpu: 104 of 128 used (8 of them idle), 16 free, 8 broken`."""
    lines = []
    for resource, one in counted.items():
        used = sentence("{used:g} of {capacity:g} used", used=one.used, capacity=one.capacity)
        if is_idle_known:
            used = sentence(
                "{used:g} of {capacity:g} used ({idle:g} of them idle)",
                used=one.used,
                capacity=one.capacity,
                idle=one.idle,
            )
        more = [sentence("{free:g} free", free=one.free)]
        more += (
            [sentence("{closed:g} more on nodes that accept no pods", closed=one.closed)]
            if one.closed
            else []
        )
        more += [sentence("{broken:g} broken", broken=one.broken)] if one.broken else []
        more += [sentence("{cordoned:g} cordoned", cordoned=one.cordoned)] if one.cordoned else []
        lines.append(
            sentence(
                "{resource}: {used}, {others}",
                resource=resource,
                used=used,
                others=listed(more),
            )
        )
    return tuple(lines)


def team_table(counted: Mapping[str, GpuCount], *, is_idle_known: bool) -> Table:
    rows = tuple(
        (team, resource, f"{held:g}", f"{one.idle_by_team.get(team, 0):g}" if is_idle_known else "?")
        for resource, one in counted.items()
        for team, held in sorted(one.by_team.items(), key=lambda row: (-row[1], row[0]))
    )
    return _table(("team", "resource", "used", "idle"), rows)


def node_table(nodes: Iterable[NodeGpus], inventory: Inventory, topology: Topology) -> Table:
    """Return a row for each resource of each node.

    A node that is cut into slices still lists the whole GPUs, and has none of them: that is no row, unless it is the
    only one.
    """
    rows = [
        (
            gpus.node,
            resource,
            f"{share.requested:g}/{share.capacity:g}",
            f"{share.free:g}",
            _state(gpus, share),
            _holders(gpus.node, resource, inventory, topology),
        )
        for gpus in nodes
        for resource, share in _shown(gpus.counts).items()
    ]
    heading = ("node", "resource", "used", "free", "state", "held by")
    return _table(heading, rows[:MAX_NODES], more=max(0, len(rows) - MAX_NODES))


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]], *, more: int = 0) -> Table:
    """Return a table, without the resource where it is the same in each row: the summary names it."""
    if len({resource for _, resource, *_ in rows}) == 1:
        heading, rows = (heading[0], *heading[2:]), [(row[0], *row[2:]) for row in rows]
    return Table(heading=tuple(heading), rows=tuple(map(tuple, rows)), more=more)


def _state(gpus: NodeGpus, share: GpuCounts) -> str:
    out = [sentence("{broken:g} broken", broken=share.unhealthy)] if share.unhealthy else []
    out += [sentence("{cordoned:g} cordoned", cordoned=share.cordoned)] if share.cordoned else []
    return listed([*gpus.unusable_reason, *out]) or "ok"


def _shown(counts: Mapping[str, GpuCounts]) -> Mapping[str, GpuCounts]:
    """Return the resources of which there is any, or that somebody holds; all where there is none."""
    there = {name: one for name, one in counts.items() if one.capacity or one.allocatable or one.requested}
    return there or counts


def _holders(node: str, resource: str, inventory: Inventory, topology: Topology) -> str:
    held: dict[str, float] = defaultdict(float)
    for pod in inventory.pods_on(node):
        count = inventory.gpus_of(pod).get(resource, 0) if holds_resources(pod) else 0
        facts = topology.pods.get((pod.metadata.namespace, pod.metadata.name))
        if count:
            held[facts.user if facts else pod.metadata.name] += count
    return ", ".join(
        f"{who.rpartition('/')[2]} {gpus:g}"
        for who, gpus in sorted(held.items(), key=lambda one: (-one[1], one[0]))[:4]
    )
