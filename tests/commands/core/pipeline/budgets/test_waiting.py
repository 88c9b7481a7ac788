"""A plan that waits for its budget: what lets it go on, and what ends it."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from alerts.cards.posted import CardKind, PostedCard, ThreadReply, new_card
from alerts.cards.text import plain
from bot.jobs.plan_runner import PlanRunner
from commands.execution.plan import GateName, Plan, PlanState, Stage
from commands.execution.plan_card import card_of
from commands.execution.plan_gate import HELD_AT_MOST
from demo.lookalikes.kubernetes import KubernetesLookalike
from demo.side_tasks import beside
from tests.commands.core.pipeline.budgets.conftest import (
    NODES,
    cordon,
    held_back,
    is_out,
    make_room,
    repair_steps,
)
from tests.support.drained import until
from tests.support.yard import Yard, a_node_tree, text_of


async def test_a_plan_over_its_budget_says_so_waits_and_goes_on_when_a_node_is_back(yard: Yard) -> None:
    await cordon(yard, *NODES[:5])
    plan = await yard.plan(f"node cordon {NODES[5]}")
    shown = await yard.say(f"node cordon {NODES[5]}")
    assert "Confirmed, it would wait. Budget of pool a: 5 of 5 nodes out of service" in shown
    assert "[Go over the budget…] plan exceed" in shown

    plan = await yard.newest() or plan
    waiting = await yard.executor.execute(await yard.confirmed(plan))
    assert waiting.state is PlanState.WAITING
    card = text_of(card_of(waiting, await yard.records(waiting)))
    assert "waits" in card
    assert "Held back. Budget of pool a: 5 of 5" in card
    assert f"[Cancel] plan cancel {plan.id}" in card
    again = await yard.executor.execute(waiting)
    assert again == waiting, "it still waits"

    uncordoned = await yard.do(f"node uncordon {NODES[0]}")
    assert uncordoned.state is PlanState.DONE
    await is_out(yard, NODES[0], out=False)
    yard.clock.move(timedelta(minutes=2))
    assert (await yard.executor.execute(waiting)).state is PlanState.DONE


@asynccontextmanager
async def runs_plans(yard: Yard) -> AsyncGenerator[None]:
    """Run plans as the next process does."""
    runner = PlanRunner(
        yard.store, yard.executor, channel="", renew=yard.pipeline.decisions.renew, gate_again=0.05
    )
    yard.store.listen(runner.wake)
    async with beside(runner.run()):
        yield


def has_state(yard: Yard, plan: Plan, state: PlanState) -> Callable[[], Awaitable[bool]]:
    async def holds() -> bool:
        return (await yard.stored(plan.id)).state is state

    return holds


async def test_the_next_process_starts_what_waited_once_there_is_room(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await held_back(yard, f"node cordon {NODES[5]} --for 1h")
    yard.clock.move(timedelta(hours=2))
    async with runs_plans(yard):
        await make_room(yard)
        await until(has_state(yard, plan, PlanState.DONE))
    node = kube.get("Node", "", NODES[5])
    assert node is not None
    until_then = node["metadata"]["annotations"]["yardmaster.io/cordon-until"]
    assert until_then > f"{yard.clock.now():%Y-%m-%dT%H:%M:%SZ}", "its hour began when it was cordoned"


async def test_what_waited_and_is_another_plan_by_then_is_not_done(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await held_back(yard, f"node cordon {NODES[5]}")
    kube.delete("Node", "", NODES[5])
    kube.create(a_node_tree(NODES[5]), keep_status=True)
    uid = (kube.get("Node", "", NODES[5]) or {})["metadata"]["uid"]
    await yard.seen(lambda: yard.cluster.inventory().nodes[NODES[5]].metadata.uid == uid)
    async with runs_plans(yard):
        await make_room(yard)
        await until(has_state(yard, plan, PlanState.CANCELLED))
    ended = await yard.stored(plan.id)
    assert "it was held back, and nothing was done: The cluster changed" in ended.error
    assert f"Run `{plan.line}` again." in ended.error
    assert not (kube.get("Node", "", NODES[5]) or {})["spec"].get("unschedulable")


async def test_a_plan_that_waits_is_cancelled_by_a_person_or_after_four_hours(yard: Yard) -> None:
    await cordon(yard, *NODES[:5])
    first, second = [
        await yard.executor.execute(await yard.confirmed(await yard.plan(f"node cordon {name}")))
        for name in NODES[5:7]
    ]
    async with yard.store.unit() as unit:
        for one in (first, second):
            await unit.rows(PostedCard).put(new_card(CardKind.PLAN, one, "C_GPU"))
    await yard.say(f"plan cancel {first.id}")
    assert (await yard.executor.execute(first)).state is PlanState.CANCELLED
    shown = text_of(card_of(second, await yard.records(second)))
    assert "If that lasts until 2026-11-21 16:00 UTC, it is cancelled" in shown
    yard.clock.move(HELD_AT_MOST + timedelta(minutes=1))
    late = await yard.executor.execute(second)
    assert late.state is PlanState.CANCELLED
    assert "it was held back for 4 h, and nothing was done: Budget of pool a" in late.error
    async with yard.store.read() as snapshot:
        (reply,) = await snapshot.rows(ThreadReply).find()
    assert reply.card.startswith(f"plan/{second.id}/"), "who cancels a plan knows it"
    assert plain(reply.text).startswith(f"dana: {second.title} was not done: it was held back for 4 h")


async def test_a_repair_waits_for_its_budget_as_a_cordon_does(yard: Yard) -> None:
    await cordon(yard, *NODES[:5])
    waiting = await yard.confirmed(await yard.plan(f"node cordon {NODES[5]}"))
    (step,) = repair_steps(NODES[5])
    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(replace(waiting, stages=(Stage(steps=(step,)),)))
    held = await yard.executor.execute(await yard.stored(waiting.id))
    assert held.state is PlanState.WAITING
    assert held.gates == (GateName.BUDGET,)
    assert "Budget of pool a: 5 of 5" in held.held


async def test_a_taint_of_ours_is_under_the_budget_too(yard: Yard) -> None:
    await cordon(yard, *NODES[:5])
    plan = await yard.confirmed(await yard.plan(f"node taint {NODES[5]} gpu=broken:NoSchedule"))
    assert (await yard.executor.execute(plan)).state is PlanState.WAITING
