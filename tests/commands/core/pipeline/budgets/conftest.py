"""Fifty nodes of a pool of which five may be out of service, and a command pipeline for them."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.core.request import Actor
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import Plan, PlanState
from commands.execution.steps import NodeJob
from commands.gates.budget import Budget
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.budgets import keep_budgets, of_pool
from tests.support.execution import a_job
from tests.support.yard import Yard, yard_before

ELI = Actor(id="U_ELI", name="eli", teams=frozenset({"sre"}))
NODES = tuple(f"gpu-a{number:02}" for number in range(1, 51))
FIVE = (of_pool(5),)


@pytest.fixture
def nodes() -> Sequence[str]:
    return (*NODES, "gpu-b01")


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    permissions = Permissions(teams={"sre": Grant(commands=("*",))}, automation={})
    async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig"), permissions=permissions) as yard:
        keep_budgets(yard, *FIVE)
        yield yard


async def cordon(yard: Yard, *nodes: str) -> None:
    """Cordon nodes one after the other, and wait until the cache shows them."""
    for node in nodes:
        plan = await yard.do(f"node cordon {node}")
        assert plan.state is PlanState.DONE, plan.held
        await is_out(yard, node)


async def is_out(yard: Yard, node: str, *, out: bool = True) -> None:
    await yard.seen(lambda: bool(yard.cluster.inventory().nodes[node].spec.unschedulable) is out)


def cordoned(kube: KubernetesLookalike) -> int:
    return sum(bool((kube.get("Node", "", name) or {})["spec"].get("unschedulable")) for name in NODES)


async def held_back(yard: Yard, line: str) -> Plan:
    """Return the plan of a line, which waits for its budget: five nodes are out."""
    await cordon(yard, *NODES[:5])
    plan = await yard.executor.execute(await yard.confirmed(await yard.plan(line)))
    assert plan.state is PlanState.WAITING
    return plan


async def make_room(yard: Yard) -> None:
    yard.clock.move(timedelta(minutes=2))
    await yard.do(f"node uncordon {NODES[0]}")


def limited_to(yard: Yard, budgets: tuple[Budget, ...]) -> None:
    before = yard.pipeline.budgets
    assert before is not None
    yard.pipeline = replace(yard.pipeline, budgets=replace(before, budgets=budgets))


def repair_steps(node: str) -> tuple[NodeJob, ...]:
    return (
        NodeJob(
            node=ObjectRef(api="v1", kind="Node", name=node),
            manifest=a_job("mend"),
            script="mend",
            description="run mend",
        ),
    )
