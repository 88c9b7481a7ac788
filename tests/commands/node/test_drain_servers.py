"""`node drain` on the look-alike and on a real control plane: budgets, a crash, the undo."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from commands.core.cordoned_nodes import BY
from commands.execution.plan import Plan, PlanState, StepState
from commands.execution.plan_card import card_of
from tests.support.drained import ON_BOTH_SERVERS, Kubelets, kubeconfig_of, kubelets, quick, until
from tests.support.yard import Yard, text_of, yard_before


@pytest.fixture(params=ON_BOTH_SERVERS)
async def stage(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[Yard, Kubelets, str, str]]:
    """A pipeline, the cluster's kubelets, and the names of two ready nodes."""
    mark = uuid.uuid4().hex[:6]
    first, second = f"drain-a-{mark}", f"drain-b-{mark}"
    async with AsyncExitStack() as stack:
        config = await stack.enter_async_context(kubeconfig_of(request, tmp_path))
        made = await stack.enter_async_context(kubelets(config, f"drain-{mark}"))
        for name in (first, second):
            await made.add_node(name)
        yard = await stack.enter_async_context(yard_before(config, pause=quick))
        try:
            yield yard, made, first, second
        finally:
            await made.clear((first, second))


async def with_pods(kube: Kubelets, node: str, other: str) -> None:
    """Run a Deployment of two replicas on the first node; its next pods may only go to the second one."""
    await kube.call("PATCH", f"/api/v1/nodes/{other}", {"spec": {"unschedulable": True}})
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {
                        "matchExpressions": [
                            {"key": "kubernetes.io/hostname", "operator": "In", "values": [node, other]}
                        ]
                    }
                ]
            }
        }
    }
    await kube.add_deployment("web", 2, affinity=affinity)
    await kube.until_running(node, 2)
    await kube.call("PATCH", f"/api/v1/nodes/{other}", {"spec": {"unschedulable": None}})


async def seen_on(yard: Yard, node: str, count: int) -> None:
    await yard.seen(lambda: len(yard.cluster.inventory().pods_on(node)) >= count)


async def test_a_drain_waits_for_a_budget_and_goes_on_when_it_lets_the_pods_go(
    stage: tuple[Yard, Kubelets, str, str],
) -> None:
    yard, kube, node, other = stage
    await with_pods(kube, node, other)
    await kube.add_budget("web", 2, app="web")
    await seen_on(yard, node, 2)

    plan = await yard.plan(f"node drain {node} --reason fan")
    assert plan.blockers == (f"{kube.namespace}/web",)
    shown = await yard.say(f"plan show {plan.id}")
    assert any("have to wait now: The disruption budget web needs 2" in note for note in plan.notes), (
        plan.notes
    )
    assert f"Deployment {kube.namespace}/web: 2 pods" in shown

    confirmed = await yard.confirmed(plan)
    async with asyncio.timeout(90), asyncio.TaskGroup() as tasks:
        drain = tasks.create_task(yard.executor.execute(confirmed))
        await waits_for_the_budget(yard, confirmed)
        assert (await kube.node(node))["spec"]["unschedulable"] is True
        assert len(await kube.pods(node)) == 2
        card = text_of(card_of(confirmed, await yard.records(confirmed)))
        assert "The disruption budget web needs 2" in card
        path = kube.path("poddisruptionbudgets", "web", api="/apis/policy/v1")
        await kube.call("PATCH", path, {"spec": {"minAvailable": 1}})
    over = drain.result()
    assert over.state is PlanState.DONE, over.error
    assert await kube.pods(node) == []
    await kube.until_running(other, 2)

    undone = await yard.do(f"plan undo {plan.id}")
    assert undone.state is PlanState.DONE, undone.error
    assert any("This is not undone: evict" in note for note in undone.notes)
    after = await kube.node(node)
    assert not after["spec"].get("unschedulable")
    assert BY not in after["metadata"].get("annotations", {})


async def waits_for_the_budget(yard: Yard, plan: Plan) -> None:
    async def waits() -> bool:
        return any("disruption budget" in one.outcome for one in await yard.records(plan))

    await until(waits)


async def test_a_drain_that_was_cut_off_is_resumed_and_evicts_each_pod_once(
    stage: tuple[Yard, Kubelets, str, str],
) -> None:
    yard, kube, node, other = stage
    await with_pods(kube, node, other)
    await seen_on(yard, node, 2)
    plan = await yard.confirmed(await yard.plan(f"node drain {node}"))
    kube.ends_pods = False  # they terminate until the next process looks
    names = [one["metadata"]["name"] for one in await kube.pods(node)]
    async with asyncio.TaskGroup() as tasks:
        drain = tasks.create_task(yard.executor.execute(plan))
        await kube.until_running(node, 0)
        drain.cancel()
    states = [one.state for one in await yard.records(plan)]
    assert states == [StepState.DONE, StepState.DONE, StepState.RUNNING, StepState.RUNNING]

    kube.ends_pods = True
    async with asyncio.timeout(60):
        over = await yard.executor.execute(plan)
    assert over.state is PlanState.DONE, over.error
    assert {one.state for one in await yard.records(over)} == {StepState.DONE}
    assert sorted(kube.ended) == names
