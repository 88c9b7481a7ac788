"""Budgets: how many nodes of a place may be out of service at once, and be disrupted within an hour. Pure.

A place is a cluster, a pool, a rack, or all nodes on which a team has work. What counts is in a picture (`picture.py`).
A budget may be of some kinds of action only, by their commands: it then counts what those have out or disrupted.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Protocol

from collectors.facts.name_patterns import fits_any
from collectors.facts.sentences import Sentence, as_code, counted, listed, sentence

SHOWN = 5  # nodes that are named
HOUR = timedelta(hours=1)  # in which what was disrupted, or done, is counted


ALL_COMMANDS = ("*",)


class BudgetScope(StrEnum):
    CLUSTER = "cluster"
    POOL = "pool"
    RACK = "rack"
    TEAM = "team"  # the nodes on which it has work, or had until a plan took them


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How many nodes of each place with such a name may be out. None: as many as one likes."""

    scope: BudgetScope
    of: str = "*"  # a pattern
    clusters: tuple[str, ...] = ("*",)
    nodes: int | None = None
    percent: float | None = None  # of the nodes there, rounded down, at least one node
    per_hour: int | None = None
    automation_only: bool = False
    commands: tuple[str, ...] = ALL_COMMANDS  # patterns

    @property
    def is_of_all(self) -> bool:
        """Whether it counts every node that is out, whatever made it so."""
        return self.commands == ALL_COMMANDS

    def counts(self, commands: Iterable[str]) -> bool:
        """Whether it counts what these commands have done."""
        return self.is_of_all or any(fits_any(one, self.commands) for one in commands)

    def limit(self, total: int) -> int | None:
        if self.nodes is not None or self.percent is None:
            return self.nodes
        return max(1, math.floor(total * self.percent / 100))


# What automation may take out where no budget of the settings says otherwise.
OF_AUTOMATION = Budget(scope=BudgetScope.POOL, nodes=1, per_hour=3, automation_only=True)


class NodesInUse(Protocol):
    """What budgets read of a picture."""

    @property
    def cluster(self) -> str: ...
    @property
    def out(self) -> Mapping[str, str]:
        """Return why each node that is out of service is."""
        ...

    @property
    def lately(self) -> Collection[str]:
        """Return the nodes that were disrupted in the last hour."""
        ...

    def commands_on(self, node: str) -> Collection[str]:
        """Return the commands that have the node out of service, as far as that is known."""
        ...

    def commands_lately(self, node: str) -> Collection[str]:
        """Return the commands that disrupted the node in the last hour, as far as that is known."""
        ...

    def places(self, nodes: Iterable[str], scope: BudgetScope) -> Sequence[str]:
        """Return the places of these nodes, sorted."""
        ...

    def members(self, scope: BudgetScope, place: str) -> Sequence[str]:
        """Return the nodes of a place."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetUse:
    """One budget of one place, as a plan finds it."""

    budget: Budget
    name: str  # of the place
    limit: int | None
    out: Mapping[str, str]  # node -> why
    adds: Sequence[str]  # the nodes in service that the plan takes out or disrupts
    in_last_hour: int = 0  # nodes that were disrupted, without those of this plan

    @property
    def key(self) -> tuple[Budget, str]:
        """Which of all budgets it is, and of which place."""
        return (self.budget, self.name)

    @property
    def could_fit(self) -> bool:
        """Whether the plan could begin if nothing else were out; one that could not keeps nobody waiting."""
        per_hour = self.budget.per_hour
        return (self.limit is None or len(self.adds) <= self.limit) and (
            per_hour is None or len(self.adds) <= per_hour
        )

    @property
    def is_over(self) -> bool:
        if not self.adds:
            return False
        too_many = self.limit is not None and len(self.out) + len(self.adds) > self.limit
        per_hour = self.budget.per_hour
        return too_many or (per_hour is not None and self.in_last_hour + len(self.adds) > per_hour)

    @property
    def place(self) -> Sentence:
        """`pool a100`, or the name alone if it says what it is; of some commands `pool a100 for node reboot`."""
        if self.budget.is_of_all:
            return self._place
        return sentence("{place} for {commands}", place=self._place, commands=as_code(self.budget.commands))

    @property
    def _place(self) -> Sentence:
        if self.name.casefold().startswith(self.budget.scope.value):
            return sentence("{name}", name=self.name)
        match self.budget.scope:
            case BudgetScope.CLUSTER:
                return sentence("cluster {name}", name=self.name)
            case BudgetScope.POOL:
                return sentence("pool {name}", name=self.name)
            case BudgetScope.RACK:
                return sentence("rack {name}", name=self.name)
            case BudgetScope.TEAM:
                return sentence("team {name}", name=self.name)

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
                    "{taken} of {count} node disrupted in the last hour",
                    "{taken} of {count} nodes disrupted in the last hour",
                    taken=self.in_last_hour,
                    count=self.budget.per_hour,
                )
            )
        named = sorted(self.out.items())[:SHOWN]
        holders = listed(
            (sentence("{node}: {why}", node=node, why=why) for node, why in named),
            more=len(self.out) - len(named),
        )
        held = (
            sentence("{figures} ({holders})", figures=listed(parts), holders=holders)
            if self.out
            else listed(parts)
        )
        return sentence(
            "Budget of {place}: {held}; this adds {adds}.", place=self.place, held=held, adds=len(self.adds)
        )


def budget_uses(
    taken: Iterable[str],
    command: str,
    use: NodesInUse,
    budgets: Sequence[Budget],
    *,
    is_automation: bool,
    of_automation: Budget = OF_AUTOMATION,
) -> tuple[BudgetUse, ...]:
    """Return each budget that the nodes fall under which the command is to take out, or disrupt.

    `of_automation`: what automation may take out now; that of a window takes the place of its other budgets.
    """
    wanted, cluster = frozenset(taken), use.cluster
    uses: list[BudgetUse] = []
    limited = [
        one
        for one in budgets
        if one.scope is BudgetScope.POOL and one.is_of_all and fits_any(cluster, one.clusters)
    ]
    is_more = is_automation and of_automation is not OF_AUTOMATION
    for budget in (*budgets, of_automation) if is_automation else budgets:
        is_left_out = budget.automation_only and (
            not is_automation or (is_more and budget is not of_automation)
        )
        if is_left_out or not fits_any(cluster, budget.clusters) or not budget.counts((command,)):
            continue
        for name in use.places(wanted, budget.scope):
            if not name or not fnmatchcase(name, budget.of):
                continue
            if budget is OF_AUTOMATION and any(fnmatchcase(name, one.of) for one in limited):
                continue
            there = use.members(budget.scope, name)
            out = {
                node: why
                for node in there
                if (why := use.out.get(node, "")) and budget.counts(use.commands_on(node))
            }
            lately = [
                node for node in there if node in use.lately and budget.counts(use.commands_lately(node))
            ]
            uses.append(
                BudgetUse(
                    budget=budget,
                    name=name,
                    limit=budget.limit(len(there)),
                    out=out,
                    adds=[node for node in there if node in wanted and node not in out],
                    in_last_hour=sum(node not in wanted for node in lately),
                )
            )
    return tuple(uses)
