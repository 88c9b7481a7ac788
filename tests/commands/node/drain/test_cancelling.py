"""A drain that is cancelled while it waits for a disruption budget."""

import asyncio

import pytest

from commands.execution.plan import PlanState, StepState
from tests.commands.node.drain.conftest import NODE, cached
from tests.support.drained import Kubelets, until
from tests.support.yard import Yard


@pytest.mark.parametrize("cut_off", [False, True], ids=["live", "in the next process"])
async def test_after_a_cancellation_no_pod_is_evicted_although_its_budget_allows_it_now(
    yard: Yard, kube: Kubelets, cut_off: bool
) -> None:
    for name in ("a", "b", "c"):
        await kube.add_pod(name, NODE, owned=True, labels={"app": "a"})
    await kube.add_budget("a", 3, app="a")
    await cached(yard, 3)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))

    async def wait() -> bool:
        return all("disruption budget" in one.outcome for one in (await yard.records(plan))[-3:])

    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        drain = tasks.create_task(yard.executor.execute(plan))
        await until(wait)
        if cut_off:
            drain.cancel()
        await yard.say(f"plan cancel {plan.id}")
        await asyncio.wait((drain,))  # an eviction that is on its way cannot be called back
        await kube.call("DELETE", kube.path("poddisruptionbudgets", "a", api="/apis/policy/v1"))
    async with asyncio.timeout(20):
        over = await yard.executor.execute(plan)
    assert over.state is PlanState.CANCELLED
    assert kube.ended == []
    assert {one.state for one in (await yard.records(over))[-3:]} == {StepState.SKIPPED}


async def test_a_drain_that_was_cut_off_while_it_waited_can_still_be_cancelled(
    yard: Yard, kube: Kubelets
) -> None:
    await kube.add_pod("a", NODE, owned=True, labels={"app": "a"})
    await kube.add_budget("a", 1, app="a")
    await cached(yard, 1)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))

    async def waits() -> bool:
        return "disruption budget" in (await yard.records(plan))[-1].outcome

    async with asyncio.TaskGroup() as tasks:
        drain = tasks.create_task(yard.executor.execute(plan))
        await until(waits)
        drain.cancel()
    await yard.say(f"plan cancel {plan.id}")
    async with asyncio.timeout(20):
        over = await yard.executor.execute(plan)
    assert over.state is PlanState.CANCELLED
    assert [one.state for one in await yard.records(over)][-1] is StepState.SKIPPED
    assert len(await kube.pods(NODE)) == 1
