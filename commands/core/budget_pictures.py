"""Pictures for budgets: read from the cluster's cache, and from the plans in progress and of the last hour."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from alerts.store import Between, StoreSnapshot
from collectors.cluster.objects import Node
from collectors.facts.name_patterns import fits_any
from collectors.facts.sentences import sentence
from collectors.facts.topology import Topology
from commands.core.context import Cluster
from commands.core.nodes_out import has_taint_of_ours, was_disrupted_lately, who_holds
from commands.execution.node_effects import NodeEffect
from commands.execution.plan import OVER, GateName, Plan, PlanState, StepRecord, StepState
from commands.gates.budget import HOUR
from commands.gates.node_use import nodes_hit, nodes_put_back, nodes_with
from commands.gates.picture import BudgetNode, BudgetPicture, commands_of_all, picture_of

CACHE_DELAY = timedelta(minutes=1)  # until the cache surely shows what a plan that is done has cordoned
_BEGUN = (StepState.RUNNING, StepState.DONE, StepState.UNKNOWN)


# The plan that cordoned each node of a cluster.
PlansOfCordons = Callable[[str, StoreSnapshot], Awaitable[Mapping[str, str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A named part of the nodes. All are patterns; a node with one of these names and all labels is in it."""

    names: tuple[str, ...] = ("*",)
    labels: Mapping[str, str] = field(default_factory=dict)

    def has(self, node: Node) -> bool:
        labels = node.metadata.labels or {}
        return fits_any(node.metadata.name, self.names) and all(
            fnmatchcase(labels.get(key, ""), value) for key, value in self.labels.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hit:
    """A plan that is in progress, or was in the last hour. `begun`: its steps that began; None for all."""

    plan: Plan
    begun: frozenset[int] | None

    @property
    def command(self) -> frozenset[str]:
        return frozenset({self.plan.command})

    @property
    def nodes(self) -> frozenset[str]:
        return nodes_with(self.plan, NodeEffect.OUT, NodeEffect.DISRUPTED, steps=self.begun)

    def soon(self, now: datetime, back: Mapping[str, datetime]) -> Mapping[str, str]:
        """Return the nodes that count as out by this plan though the cluster does not show it, or not yet.

        `back`: when a plan put each node back in service.
        """
        plan = self.plan
        taken = {
            node
            for node in nodes_with(plan, NodeEffect.OUT, steps=self.begun)
            if plan.ended_at is None or node not in back or back[node] < plan.ended_at
        }
        if plan.ended_at is not None and now - plan.ended_at >= CACHE_DELAY:
            return {}
        cordons = sentence("plan {plan} of {who} cordons it", plan=plan.id, who=plan.actor_name)
        found: dict[str, str] = dict.fromkeys(sorted(taken), cordons)
        if plan.ended_at is None:
            works = sentence("plan {plan} of {who} works on it", plan=plan.id, who=plan.actor_name)
            found |= dict.fromkeys(sorted(self.nodes - taken), works)
        return found


async def read_picture(
    cluster: Cluster,
    rows: StoreSnapshot,
    now: datetime,
    pool_of: Callable[[Node], str],
    *,
    cordons: PlansOfCordons | None = None,
) -> BudgetPicture:
    """Return the picture of a cluster, in as many reads whatever there is. Raises SourceError if it cannot be seen.

    `cordons`: which command has each node out is wanted too.
    """
    plans = rows.rows(Plan)
    running = await plans.find(cluster=cluster.name, state=PlanState.RUNNING.value)
    stopping = await plans.find(cluster=cluster.name, state=PlanState.CANCELLED.value, ended_at="")
    lately = Between(start=now - HOUR)
    ended = await plans.find(cluster=cluster.name, state=[one.value for one in OVER], ended_at=lately)
    waiting = await plans.find(cluster=cluster.name, state=PlanState.WAITING.value)
    hits = await _hits([*running, *stopping, *ended], rows)
    teams: dict[str, set[str]] = {}
    for hit in hits:
        for node in hit.nodes:
            teams.setdefault(node, set()).update(one.team for one in hit.plan.disrupts if one.team)
    cordoned = await _cordoned(await cordons(cluster.name, rows), rows) if cordons else {}
    back = _put_back(ended)
    soon = [(hit, hit.soon(now, back)) for hit in hits]
    return picture_of(
        cluster.name,
        _nodes(cluster, now, pool_of, teams, cordoned),
        now,
        soon={node: why for _, nodes in soon for node, why in nodes.items()},
        lately=frozenset[str]().union(*(hit.nodes for hit in hits)),
        commands=commands_of_all(*(dict.fromkeys(nodes, hit.command) for hit, nodes in soon)),
        commands_lately=commands_of_all(*(dict.fromkeys(hit.nodes, hit.command) for hit in hits)),
        waiting=[one for one in waiting if one.gates == (GateName.BUDGET,)],
    )


async def _hits(plans: Sequence[Plan], rows: StoreSnapshot) -> list[_Hit]:
    """Return what these plans did to nodes, or are about to: of one that was cut short only what it began."""
    found = [one for one in plans if nodes_hit(one)]
    cut = [one.id for one in found if one.state not in (PlanState.RUNNING, PlanState.DONE)]
    begun: dict[str, set[int]] = {id: set() for id in cut}
    for record in await rows.rows(StepRecord).find(plan=cut) if cut else ():
        if record.state in _BEGUN:
            begun[record.plan].add(record.number)
    return [_Hit(plan=one, begun=frozenset(begun[one.id]) if one.id in begun else None) for one in found]


def _put_back(ended: Sequence[Plan]) -> dict[str, datetime]:
    """Return when each node was last put back in service by a plan that is done."""
    done = [(one.ended_at, one) for one in ended if one.ended_at is not None and one.state is PlanState.DONE]
    by_age = sorted(done, key=lambda pair: pair[0])
    return {node: at for at, plan in by_age for node in nodes_put_back(plan)}


async def _cordoned(by: Mapping[str, str], rows: StoreSnapshot) -> dict[str, str]:
    """Return the command of the plan that cordoned each node."""
    plans = await rows.rows(Plan).get_all(set(by.values()))
    return {node: plans[plan].command for node, plan in by.items() if plan in plans}


def _command_on(node: Node, cordoned: Mapping[str, str]) -> str:
    """Return the command that has the node out: a cordon is one, whoever made it; "" for a fault."""
    if node.spec.unschedulable:
        return cordoned.get(node.metadata.name, "node cordon")
    return "node taint" if has_taint_of_ours(node) else ""


def _nodes(
    cluster: Cluster,
    now: datetime,
    pool_of: Callable[[Node], str],
    teams: Mapping[str, set[str]],
    cordoned: Mapping[str, str],
) -> list[BudgetNode]:
    inventory, topology = cluster.inventory(), cluster.topology()
    return [
        BudgetNode(
            name=name,
            pool=pool_of(node),
            rack=topology.nodes[name].rack if name in topology.nodes else "",
            out=who_holds(node),
            teams=frozenset(teams.get(name, ())) | _teams_on(name, topology),
            is_lately=was_disrupted_lately(node, now),
            command=_command_on(node, cordoned),
        )
        for name, node in inventory.nodes.items()
    ]


def _teams_on(node: str, topology: Topology) -> frozenset[str]:
    users = (topology.user(pod.user) for pod in topology.pods_on.get(node, ()) if pod.user)
    return frozenset(user.team for user in users if user is not None and user.team)
