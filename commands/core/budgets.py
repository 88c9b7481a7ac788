"""The budgets of the settings: which a plan falls under, from the cluster's cache and the plans in progress."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from alerts.store import StoreSnapshot
from collectors.cluster.conditions import is_node_ready
from collectors.cluster.objects import Node
from collectors.facts.clock import Clock
from collectors.facts.name_patterns import fits_any
from collectors.facts.results import SourceError
from collectors.facts.sentences import listed, said_by, sentence
from commands.core.context import Cluster
from commands.core.cordoned_nodes import BY, annotations_of
from commands.execution.automation_ids import is_automation
from commands.execution.plan import OVER, HeldBy, Plan, PlanState, StepRecord, StepState
from commands.execution.plan_gate import LETS_GO, GateVerdict
from commands.gates.budget import (
    HOUR,
    OF_AUTOMATION,
    Budget,
    BudgetNode,
    BudgetUse,
    budget_uses,
    cordons,
    nodes_taken_out,
)

CACHE_DELAY = timedelta(minutes=1)  # until the cache surely shows what a plan that is done has cordoned
NEWEST = 200  # ended plans that are read for what was taken out in the last hour
NOTHING: Mapping[str, str] = {}
DEFAULT_POOL = "default"  # of nodes that no pool of the settings has


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
class Budgets:
    """What may be out of service where, and the gate that holds plans back which would exceed it."""

    clusters: Mapping[str, Cluster]
    clock: Clock
    budgets: Sequence[Budget] = ()
    pools: Mapping[str, Pool] = field(default_factory=dict)
    of_automation: Callable[[str], Budget] = lambda _cluster: (
        OF_AUTOMATION
    )  # what it may take out of a pool now

    async def __call__(self, plan: Plan, rows: StoreSnapshot) -> GateVerdict:
        """The gate: hold a plan back that would exceed a budget. One that has begun has taken its place."""
        if plan.over_budget or plan.state is PlanState.RUNNING or not nodes_taken_out(plan):
            return LETS_GO
        try:
            over = [use.said for use in await self.uses(plan, rows) if use.is_over]
        except SourceError as error:
            reason = sentence(
                "it is not known how many nodes are out of service: {error}", error=said_by(error)
            )
            return GateVerdict(reason=reason, by=(HeldBy.BUDGET,))
        return GateVerdict(reason=listed(over, ";"), by=(HeldBy.BUDGET,)) if over else LETS_GO

    async def uses(
        self,
        plan: Plan,
        rows: StoreSnapshot,
        *,
        imagined: Mapping[str, str] = NOTHING,
        imagined_lately: Collection[str] = (),
    ) -> tuple[BudgetUse, ...]:
        """Return the budgets that the plan falls under. Raises SourceError while the cluster cannot be seen.

        `imagined`: nodes that count as out of service, and why; `imagined_lately`: as taken out in the last hour.
        """
        taken = nodes_taken_out(plan)
        is_automatic = is_automation(plan.actor)
        if not taken or not (self.budgets or is_automatic) or plan.cluster not in self.clusters:
            return ()
        now = self.clock.now()
        others = [
            (one, await _taken_by(one, rows))
            for one in await self._began_lately(plan, rows, now)
            if one.id != plan.id
        ]
        soon = {
            node: sentence("plan {plan} of {who} cordons it", plan=one.id, who=one.actor_name)
            for one, nodes in others
            if one.ended_at is None or now - one.ended_at < CACHE_DELAY
            for node in nodes
        } | dict(imagined)
        return budget_uses(
            taken,
            self._nodes(self.clusters[plan.cluster], soon),
            self.budgets,
            cluster=plan.cluster,
            recent=[*(node for _, nodes in others for node in nodes), *imagined_lately],
            is_automation=is_automatic,
            of_automation=self.of_automation(plan.cluster),
        )

    async def _began_lately(self, plan: Plan, rows: StoreSnapshot, now: datetime) -> list[Plan]:
        """Return the plans in progress, and those that ended in the last hour."""
        running = await rows.rows(Plan).find(cluster=plan.cluster, state=PlanState.RUNNING.value)
        ended = await rows.rows(Plan).find(
            cluster=plan.cluster, state=[one.value for one in OVER], newest=True, limit=NEWEST
        )
        lately = (one for one in ended if one.ended_at is None or now - one.ended_at < HOUR)
        return [*running, *lately]

    def _nodes(self, cluster: Cluster, soon: Mapping[str, str]) -> list[BudgetNode]:
        racks = cluster.topology().nodes
        return [
            BudgetNode(
                name=name,
                pool=self._pool(node),
                rack=racks[name].rack if name in racks else "",
                out=why_out(node) or soon.get(name, ""),
            )
            for name, node in cluster.inventory().nodes.items()
        ]

    def pool_of(self, cluster: str, node: str) -> str:
        """Return the pool of a node; the default one for a node that is not seen."""
        try:
            found = self.clusters[cluster].inventory().nodes.get(node)
        except SourceError:
            found = None
        return self._pool(found) if found is not None else DEFAULT_POOL

    def _pool(self, node: Node) -> str:
        return next((name for name, pool in self.pools.items() if pool.has(node)), DEFAULT_POOL)


def why_out(node: Node) -> str:
    """Return why a node is out of service; empty for one that takes pods."""
    if node.spec.unschedulable:
        by = annotations_of(node).get(BY, "")
        return sentence("cordoned by {who}", who=by) if by else sentence("cordoned by somebody else")
    return "" if is_node_ready(node) else sentence("not ready")


async def _taken_by(plan: Plan, rows: StoreSnapshot) -> frozenset[str]:
    """Return the nodes that a plan in progress takes out, or that one which is over has cordoned, or may have."""
    nodes = nodes_taken_out(plan)
    if not nodes or plan.state in (PlanState.RUNNING, PlanState.DONE):
        return nodes
    begun = {
        record.number
        for record in await rows.rows(StepRecord).find(plan=plan.id)
        if record.state in (StepState.RUNNING, StepState.DONE, StepState.UNKNOWN)
    }
    return frozenset(node for number, node in cordons(plan).items() if number in begun)


async def with_budgets(plan: Plan, budgets: Budgets, rows: StoreSnapshot) -> Plan:
    """Return a proposed plan with the figures of its budgets, and with what would hold it back."""
    try:
        uses = await budgets.uses(plan, rows)
    except SourceError as error:
        return replace(
            plan, notes=(*plan.notes, sentence("Its budgets are not known: {error}", error=said_by(error)))
        )
    over = [use.said for use in uses if use.is_over]
    held = listed(over) if over and not plan.over_budget else ""
    notes = (*plan.notes, *(use.said for use in uses if use.said not in over or not held))
    return replace(plan, notes=notes, held=held, held_by=(HeldBy.BUDGET,) if held else plan.held_by)
