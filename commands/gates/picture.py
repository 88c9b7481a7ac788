"""The picture by which budgets judge: what is out of service, what was disrupted lately, and who waits. Pure.

It is made once for all plans that are judged together, and never changes: `with_taken` returns another one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from collectors.facts.sentences import sentence
from commands.execution.plan import Plan
from commands.gates.budget import BudgetScope


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetNode:
    """A node as budgets see it. `out` says why it is out of service; it is empty for one in service.

    `teams`: those that have work on it, or had until a plan took it. `is_lately`: it was disrupted in the last hour.
    """

    name: str
    pool: str
    rack: str
    out: str = ""
    teams: frozenset[str] = frozenset()
    is_lately: bool = False

    def places(self, scope: BudgetScope, cluster: str) -> Iterable[str]:
        match scope:
            case BudgetScope.CLUSTER:
                return (cluster,)
            case BudgetScope.POOL:
                return (self.pool,)
            case BudgetScope.RACK:
                return (self.rack,)
            case BudgetScope.TEAM:
                return self.teams


@dataclass(frozen=True, kw_only=True)
class Places:
    """The nodes of a cluster, by each place that they are in."""

    cluster: str
    nodes: tuple[BudgetNode, ...]

    @cached_property
    def by_name(self) -> Mapping[str, BudgetNode]:
        return {node.name: node for node in self.nodes}

    @cached_property
    def members(self) -> Mapping[tuple[BudgetScope, str], tuple[str, ...]]:
        found: dict[tuple[BudgetScope, str], list[str]] = {}
        for node in self.nodes:
            for scope in BudgetScope:
                for place in node.places(scope, self.cluster):
                    found.setdefault((scope, place), []).append(node.name)
        return {key: tuple(names) for key, names in found.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPicture:
    """One cluster at one moment. `waiting`: the plans that only their budget holds back, the oldest first."""

    nodes: Places
    at: datetime
    out: Mapping[str, str]  # node -> why it is out of service, and who holds it
    lately: frozenset[str]  # nodes that were disrupted in the last hour
    waiting: tuple[Plan, ...] = field(default=())

    @property
    def cluster(self) -> str:
        return self.nodes.cluster

    def places(self, nodes: Iterable[str], scope: BudgetScope) -> list[str]:
        known = self.nodes.by_name
        return sorted(
            {place for name in nodes if name in known for place in known[name].places(scope, self.cluster)}
        )

    def members(self, scope: BudgetScope, place: str) -> tuple[str, ...]:
        return self.nodes.members.get((scope, place), ())

    def with_out(self, out: Mapping[str, str], lately: Iterable[str] = ()) -> "BudgetPicture":
        """Return the picture with more nodes out of service, and disrupted lately. What is known of one stays."""
        return replace(self, out={**out, **self.out}, lately=self.lately | frozenset(lately))

    def with_taken(self, plan: Plan, nodes: Iterable[str]) -> "BudgetPicture":
        """Return the picture once the plan has begun."""
        why = sentence("plan {plan} of {who} has it", plan=plan.id, who=plan.actor_name)
        taken = frozenset(nodes)
        return self.with_out(dict.fromkeys(sorted(taken), why), taken)


def picture_of(
    cluster: str,
    nodes: Iterable[BudgetNode],
    at: datetime,
    *,
    soon: Mapping[str, str],
    lately: Iterable[str],
    waiting: Iterable[Plan] = (),
) -> BudgetPicture:
    """Return the picture of a cluster. `soon`: nodes that count as out though the cluster does not show it, and why."""
    places = Places(cluster=cluster, nodes=tuple(nodes))
    out = {node.name: why for node in places.nodes if (why := node.out or soon.get(node.name, ""))}
    seen = (node.name for node in places.nodes if node.is_lately)
    return BudgetPicture(
        nodes=places,
        at=at,
        out=out,
        lately=frozenset(lately) | frozenset(seen),
        waiting=tuple(sorted(waiting, key=age_of)),
    )


def age_of(plan: Plan) -> tuple[datetime, str]:
    """Return by what plans are ordered that wait: what was confirmed first goes first."""
    return (plan.confirmed_at or plan.created_at, plan.id)
