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

Commands = Mapping[str, frozenset[str]]  # node -> names of commands
_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetNode:
    """A node as budgets see it. `out` says why it is out of service; it is empty for one in service.

    `command`: the one that has it out. `teams`: those that have work on it, or had until a plan took it. `is_lately`:
    it was disrupted in the last hour.
    """

    name: str
    pool: str
    rack: str
    out: str = ""
    teams: frozenset[str] = frozenset()
    is_lately: bool = False
    command: str = ""

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
    commands: Commands  # by node, what has it out or is about to
    commands_before: Commands  # by node, what disrupted it in the last hour
    waiting: tuple[Plan, ...] = field(default=())

    @property
    def cluster(self) -> str:
        return self.nodes.cluster

    def commands_on(self, node: str) -> frozenset[str]:
        return self.commands.get(node, _NONE)

    def commands_lately(self, node: str) -> frozenset[str]:
        return self.commands_before.get(node, _NONE)

    def places(self, nodes: Iterable[str], scope: BudgetScope) -> list[str]:
        known = self.nodes.by_name
        return sorted(
            {place for name in nodes if name in known for place in known[name].places(scope, self.cluster)}
        )

    def members(self, scope: BudgetScope, place: str) -> tuple[str, ...]:
        return self.nodes.members.get((scope, place), ())

    def with_out(
        self, out: Mapping[str, str], lately: Iterable[str] = (), *, commands: Commands | None = None
    ) -> "BudgetPicture":
        """Return the picture with more nodes out of service, and disrupted lately. What is known of one stays."""
        by = commands or {}
        return replace(
            self,
            out={**out, **self.out},
            lately=self.lately | frozenset(lately),
            commands=_with_more(self.commands, by),
            commands_before=_with_more(self.commands_before, by),
        )

    def with_taken(self, plan: Plan, nodes: Iterable[str]) -> "BudgetPicture":
        """Return the picture once the plan has begun."""
        why = sentence("plan {plan} of {who} has it", plan=plan.id, who=plan.actor_name)
        taken = frozenset(nodes)
        by = dict.fromkeys(taken, frozenset({plan.command}))
        return self.with_out(dict.fromkeys(sorted(taken), why), taken, commands=by)


def _with_more(commands: Commands, more: Commands) -> Commands:
    """Return the commands of each node with more of some nodes: a picture has many nodes, and a plan takes few."""
    return {**commands, **{node: commands.get(node, _NONE) | names for node, names in more.items()}}


def commands_of_all(*several: Commands) -> dict[str, frozenset[str]]:
    """Return the commands of each node of them all."""
    return {
        node: _NONE.union(*(one.get(node, _NONE) for one in several))
        for node in dict.fromkeys(name for one in several for name in one)
    }


def picture_of(
    cluster: str,
    nodes: Iterable[BudgetNode],
    at: datetime,
    *,
    soon: Mapping[str, str],
    lately: Iterable[str],
    waiting: Iterable[Plan] = (),
    commands: Commands | None = None,
    commands_lately: Commands | None = None,
) -> BudgetPicture:
    """Return the picture of a cluster. `soon`: nodes that count as out though the cluster does not show it, and why.

    `commands`: what has a node out beside what the cluster shows; `commands_lately`: what disrupted it.
    """
    places = Places(cluster=cluster, nodes=tuple(nodes))
    out = {node.name: why for node in places.nodes if (why := node.out or soon.get(node.name, ""))}
    seen = (node.name for node in places.nodes if node.is_lately)
    shown = {node.name: frozenset({node.command}) for node in places.nodes if node.command}
    before = {
        node.name: frozenset({node.command}) for node in places.nodes if node.is_lately and node.command
    }
    return BudgetPicture(
        nodes=places,
        at=at,
        out=out,
        lately=frozenset(lately) | frozenset(seen),
        commands=commands_of_all(shown, commands or {}),
        commands_before=commands_of_all(before, commands_lately or {}),
        waiting=tuple(sorted(waiting, key=age_of)),
    )


def age_of(plan: Plan) -> tuple[datetime, str]:
    """Return by what plans are ordered that wait: what was confirmed first goes first."""
    return (plan.confirmed_at or plan.created_at, plan.id)
