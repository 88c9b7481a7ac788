"""A confirmed drain: what is evicted, how many pods at once, and what its card shows."""

import asyncio

from commands.core.drain_pods import AT_ONCE
from commands.execution.plan import PlanState, StepRecord, StepState
from commands.execution.plan_card import card_of
from commands.models import CordonLease
from tests.commands.node.drain.conftest import NODE, cached
from tests.support.drained import Kubelets, until
from tests.support.yard import Yard, text_of


async def test_a_drain_cordons_evicts_and_leaves_the_rest(yard: Yard, kube: Kubelets) -> None:
    await kube.add_daemonset("agent", NODE)
    await kube.add_pod("bare", NODE)
    await cached(yard, 2)
    over = await yard.do(f"node drain {NODE}")
    assert over.state is PlanState.DONE, over.error
    assert [one["metadata"]["labels"]["app"] for one in await kube.pods(NODE)] == ["agent"]
    async with yard.store.unit() as unit:
        assert [lease.node for lease in await unit.rows(CordonLease).find()] == [NODE]


async def test_a_node_that_others_cordoned_is_drained_and_stays_cordoned_after_an_undo(
    yard: Yard, kube: Kubelets
) -> None:
    await kube.add_pod("bare", NODE)
    await kube.call("PATCH", f"/api/v1/nodes/{NODE}", {"spec": {"unschedulable": True}})
    await yard.seen(lambda: yard.cluster.inventory().nodes[NODE].spec.unschedulable)
    await cached(yard, 1)
    over = await yard.do(f"node drain {NODE}")
    assert over.state is PlanState.DONE, over.error
    assert "did nothing that can be undone" in await yard.say(f"plan undo {over.id}")


async def test_no_more_pods_than_the_limit_end_at_once(yard: Yard, kube: Kubelets) -> None:
    count = AT_ONCE * 2 + 5
    for number in range(count):
        await kube.add_pod(f"p{number:02}", NODE, owned=True)
    await cached(yard, count)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))
    kube.ends_pods = False
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        drain = tasks.create_task(yard.executor.execute(plan))
        await kube.until_running(NODE, count - AT_ONCE)
        await asyncio.sleep(0.2)  # time to evict more, if it would
        assert len(await kube.pods(NODE)) == count - AT_ONCE
        kube.ends_pods = True
    assert drain.result().state is PlanState.DONE
    assert kube.most_terminating <= AT_ONCE
    assert len(kube.ended) == count


async def test_pods_that_wait_for_a_budget_do_not_hold_up_the_others(yard: Yard, kube: Kubelets) -> None:
    for number in range(AT_ONCE + 2):
        await kube.add_pod(f"a{number:02}", NODE, owned=True, labels={"app": "a"})
    await kube.add_pod("z", NODE, owned=True)
    await kube.add_budget("a", AT_ONCE + 2, app="a")
    await cached(yard, AT_ONCE + 3)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        drain = tasks.create_task(yard.executor.execute(plan))

        async def ended() -> bool:
            return kube.ended == ["z"]

        await until(ended)
        await yard.say(f"plan cancel {plan.id}")
    over = drain.result()
    assert (over.state, over.error) == (PlanState.CANCELLED, "cancelled by dana")
    states = {one.state for one in await yard.records(over)}
    assert states == {StepState.DONE, StepState.SKIPPED}
    assert len(await kube.pods(NODE)) == AT_ONCE + 2


async def test_a_pod_that_can_never_be_evicted_fails_the_plan_and_the_others_go(
    yard: Yard, kube: Kubelets
) -> None:
    await kube.add_pod("twice", NODE, owned=True, labels={"app": "a"})
    await kube.add_pod("z", NODE, owned=True)
    await cached(yard, 2)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))
    for name in ("one", "two"):
        await kube.add_budget(name, 0, app="a")
    over = await yard.executor.execute(plan)
    assert over.state is PlanState.FAILED
    assert over.error == "pod work/twice has more than one PodDisruptionBudget, so it can never be evicted"
    assert [one["metadata"]["name"] for one in await kube.pods(NODE)] == ["twice"]


async def test_a_large_drain_writes_one_row_for_each_step_and_not_the_plan(
    yard: Yard, kube: Kubelets
) -> None:
    for number in range(20):
        await kube.add_pod(f"p{number:02}", NODE, owned=True)
    await cached(yard, 20)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))
    written: list[str] = []
    stop = yard.store.listen(lambda changed: written.extend(table for table in changed if table == "plans"))
    over = await yard.executor.execute(plan)
    stop()
    assert over.state is PlanState.DONE
    assert len(written) == 2  # when it began and when it ended
    async with yard.store.unit() as unit:
        assert len(await unit.rows(StepRecord).find(plan=plan.id)) == 22
    card = text_of(card_of(over, await yard.records(over)))
    assert "22 of 22 done" in card


async def test_the_card_of_a_large_drain_shows_the_pods_that_it_waits_for(yard: Yard, kube: Kubelets) -> None:
    for number in range(20):
        await kube.add_pod(f"p{number:02}", NODE, owned=True)
    await kube.add_pod("zz", NODE, owned=True, labels={"app": "z"})
    await kube.add_budget("z", 1, app="z")
    await cached(yard, 21)
    plan = await yard.confirmed(await yard.plan(f"node drain {NODE}"))
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(yard.executor.execute(plan))
        await kube.until_running(NODE, 1)

        async def waits() -> bool:
            return "zz (The disruption budget z needs 1" in text_of(card_of(plan, await yard.records(plan)))

        await until(waits)
        await yard.say(f"plan cancel {plan.id}")
