"""Budgets that the plans of a yard keep."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from commands.core.budget_pictures import Pool
from commands.core.budgets import Budgets
from commands.execution.executor import PlanExecutor
from commands.execution.plan_gate import Gates
from commands.gates.budget import Budget, BudgetScope
from tests.support.yard import CLUSTER, Yard

POOL_A = {"a": Pool(names=("gpu-a*",))}


def of_pool(nodes: int) -> Budget:
    """So many nodes of the pool `a` may be out of service."""
    return Budget(scope=BudgetScope.POOL, of="a", nodes=nodes)


def keep_budgets(yard: Yard, *budgets: Budget, pools: Mapping[str, Pool] = POOL_A, **more: Any) -> None:
    """Let what the yard plans and executes from now on keep these budgets."""
    kept = Budgets(clusters={CLUSTER: yard.cluster}, clock=yard.clock, budgets=budgets, pools=pools, **more)
    yard.pipeline = replace(yard.pipeline, budgets=kept)
    yard.executor = executor_of(yard, kept)


def executor_of(yard: Yard, budgets: Budgets) -> PlanExecutor:
    return PlanExecutor(yard.store, {CLUSTER: yard.writer}, yard.clock, gate=Gates((budgets,)))
