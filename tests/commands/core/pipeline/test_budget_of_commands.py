"""Budgets of a kind of action: counted by the plans that took the nodes, and by the cordons of others."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from commands.execution.plan import PlanState
from commands.gates.budget import Budget, BudgetScope
from commands.node.own_leases import plans_of_leases
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.budgets import keep_budgets
from tests.support.yard import Yard, yard_before

NODES = ("gpu-a01", "gpu-a02", "gpu-a03")
ONE_DRAIN = Budget(scope=BudgetScope.POOL, of="a", nodes=1, commands=("node drain",))
TWO_CORDONS = Budget(scope=BudgetScope.CLUSTER, nodes=2, commands=("node cordon",))


@pytest.fixture
def nodes() -> Sequence[str]:
    return NODES


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
        keep_budgets(yard, ONE_DRAIN, TWO_CORDONS, cordons=plans_of_leases)
        yield yard


async def is_out(yard: Yard, node: str) -> None:
    await yard.seen(lambda: bool(yard.cluster.inventory().nodes[node].spec.unschedulable))


async def test_a_drain_waits_for_a_drain_and_a_cordon_does_not(yard: Yard) -> None:
    assert (await yard.do("node drain gpu-a01")).state is PlanState.DONE
    await is_out(yard, "gpu-a01")
    yard.clock.move(timedelta(hours=2))  # only the lease says by now what took it
    shown = await yard.say("node drain gpu-a02")
    assert "Budget of pool a for node drain: 1 of 1 node out of service" in shown
    assert "(gpu-a01: cordoned by dana until 2026-11-21 16:00 UTC (no reason given))" in shown
    waits = await yard.do("node drain gpu-a02")
    assert waits.state is PlanState.WAITING
    assert (await yard.do("node cordon gpu-a02")).state is PlanState.DONE


async def test_a_cordon_that_somebody_else_made_counts_as_one(yard: Yard, kube: KubernetesLookalike) -> None:
    for name in NODES[:2]:
        kube.patch("Node", "", name, {"spec": {"unschedulable": True}})
        await is_out(yard, name)
    held = await yard.do("node cordon gpu-a03")
    assert held.state is PlanState.WAITING
    assert "Budget of cluster prod-a for `node cordon`: 2 of 2 nodes out of service" in held.held
