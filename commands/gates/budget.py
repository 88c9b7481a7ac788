"""Budgets: how many nodes of a cluster, pool or rack may be out of service at once, and be taken out in an hour. Pure.

What counts is what holds in the cluster, whoever made it so, with what plans in progress are about to take out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from fnmatch import fnmatchcase

from collectors.facts.name_patterns import fits_any
from collectors.facts.sentences import Sentence, counted, listed, sentence
from commands.execution.plan import Plan
from commands.execution.steps import Patch

SHOWN = 5  # nodes that are named
HOUR = timedelta(hours=1)  # in which what was taken out, or done, is counted


class BudgetScope(StrEnum):
    CLUSTER = "cluster"
    POOL = "pool"
    RACK = "rack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How many nodes of each cluster, pool or rack with such a name may be out. None: as many as one likes."""

    scope: BudgetScope
    of: str = "*"  # a pattern
    clusters: tuple[str, ...] = ("*",)
    nodes: int | None = None
    percent: float | None = None  # of the nodes there, rounded down, at least one node
    per_hour: int | None = None
    automation_only: bool = False

    def limit(self, total: int) -> int | None:
        if self.nodes is not None or self.percent is None:
            return self.nodes
        return max(1, math.floor(total * self.percent / 100))


# What automation may take out where no budget of the settings says otherwise.
OF_AUTOMATION = Budget(scope=BudgetScope.POOL, nodes=1, per_hour=3, automation_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetNode:
    """A node as budgets see it. `out` says why it is out of service; it is empty for one in service."""

    name: str
    pool: str
    rack: str
    out: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetUse:
    """One budget of one cluster, pool or rack, as a plan finds it."""

    budget: Budget
    name: str  # of the cluster, pool or rack
    limit: int | None
    out: Mapping[str, str]  # node -> why
    adds: Sequence[str]  # the nodes in service that the plan takes out
    in_last_hour: int = 0  # nodes that were taken out by plans, without those of this one

    @property
    def is_over(self) -> bool:
        if not self.adds:
            return False
        too_many = self.limit is not None and len(self.out) + len(self.adds) > self.limit
        per_hour = self.budget.per_hour
        return too_many or (per_hour is not None and self.in_last_hour + len(self.adds) > per_hour)

    @property
    def place(self) -> Sentence:
        match self.budget.scope:
            case BudgetScope.CLUSTER:
                return sentence("cluster {name}", name=self.name)
            case BudgetScope.POOL:
                return sentence("pool {name}", name=self.name)
            case BudgetScope.RACK:
                return sentence("rack {name}", name=self.name)

    @property
    def said(self) -> Sentence:
        """`Budget of pool a100: 1 of 2 nodes is out of service (gpu-a02: cordoned by eli); this adds 1.`"""
        parts: list[str] = []
        if self.limit is not None:
            parts.append(
                counted(
                    "{out} of {count} node out of service",
                    "{out} of {count} nodes out of service",
                    out=len(self.out),
                    count=self.limit,
                )
            )
        if self.budget.per_hour is not None:
            parts.append(
                counted(
                    "{taken} of {count} node taken out in the last hour",
                    "{taken} of {count} nodes taken out in the last hour",
                    taken=self.in_last_hour,
                    count=self.budget.per_hour,
                )
            )
        holders = listed(
            (sentence("{node}: {why}", node=node, why=why) for node, why in sorted(self.out.items())),
            most=SHOWN,
        )
        held = (
            sentence("{figures} ({holders})", figures=listed(parts), holders=holders)
            if self.out
            else listed(parts)
        )
        return sentence(
            "Budget of {place}: {held}; this adds {adds}.", place=self.place, held=held, adds=len(self.adds)
        )


def cordons(plan: Plan) -> dict[int, str]:
    """Return the nodes that the plan cordons, by the number of the step."""
    return _set_to(plan, unschedulable=True)


def nodes_put_back(plan: Plan) -> frozenset[str]:
    """Return the nodes that the plan uncordons."""
    return frozenset(_set_to(plan, unschedulable=False).values())


def _set_to(plan: Plan, *, unschedulable: bool) -> dict[int, str]:
    return {
        number: step.ref.name
        for number, step in enumerate(plan.steps)
        if isinstance(step, Patch)
        and step.ref.kind == "Node"
        and (step.body.get("spec") or {}).get("unschedulable") is unschedulable
    }


def nodes_taken_out(plan: Plan) -> frozenset[str]:
    """Return the nodes that the plan cordons."""
    return frozenset(cordons(plan).values())


def budget_uses(
    taken: Iterable[str],
    nodes: Sequence[BudgetNode],
    budgets: Sequence[Budget],
    *,
    cluster: str,
    recent: Iterable[str],
    is_automation: bool,
    of_automation: Budget = OF_AUTOMATION,
) -> tuple[BudgetUse, ...]:
    """Return each budget that the nodes to be taken out fall under. `recent`: nodes taken out in the last hour.

    `of_automation`: what automation may take out now; that of a window takes the place of its other budgets.
    """
    wanted, last_hour = frozenset(taken), frozenset(recent)
    uses: list[BudgetUse] = []
    limited = [one for one in budgets if one.scope is BudgetScope.POOL and fits_any(cluster, one.clusters)]
    is_more = is_automation and of_automation is not OF_AUTOMATION
    for budget in (*budgets, of_automation) if is_automation else budgets:
        is_left_out = budget.automation_only and (
            not is_automation or (is_more and budget is not of_automation)
        )
        if is_left_out or not fits_any(cluster, budget.clusters):
            continue
        for name in sorted({_place(node, budget.scope, cluster) for node in nodes if node.name in wanted}):
            if not name or not fnmatchcase(name, budget.of):
                continue
            if budget is OF_AUTOMATION and any(fnmatchcase(name, one.of) for one in limited):
                continue
            there = [node for node in nodes if _place(node, budget.scope, cluster) == name]
            uses.append(
                BudgetUse(
                    budget=budget,
                    name=name,
                    limit=budget.limit(len(there)),
                    out={node.name: node.out for node in there if node.out},
                    adds=[node.name for node in there if node.name in wanted and not node.out],
                    in_last_hour=sum(node.name in last_hour - wanted for node in there),
                )
            )
    return tuple(uses)


def _place(node: BudgetNode, scope: BudgetScope, cluster: str) -> str:
    match scope:
        case BudgetScope.CLUSTER:
            return cluster
        case BudgetScope.POOL:
            return node.pool
        case BudgetScope.RACK:
            return node.rack
