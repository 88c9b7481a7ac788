"""Many plans under one budget: it holds when executors race or are killed, and the oldest plan goes first."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from commands.execution import plan_commits
from commands.execution.executor import PlanExecutor
from commands.execution.plan import Plan, PlanState, Stage
from commands.execution.plan_card import card_of
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.core.pipeline.budgets.conftest import (
    NODES,
    cordon,
    cordoned,
    held_back,
    is_out,
)
from tests.support.budgets import executor_of
from tests.support.counting_store import CountingStore
from tests.support.execution import Crash, DyingStore
from tests.support.yard import CLUSTER, Yard, text_of


async def test_fifty_plans_at_once_never_exceed_a_budget_of_five(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plans = [await yard.confirmed(await yard.plan(f"node cordon {name}")) for name in NODES]
    second = executor_of(yard, yard.pipeline.budgets or pytest.fail("no budgets"))
    ended = await asyncio.gather(
        *((yard.executor, second)[number % 2].execute(plan) for number, plan in enumerate(plans))
    )
    states = [plan.state for plan in ended]
    assert states.count(PlanState.DONE) == 5
    assert states.count(PlanState.WAITING) == 45
    assert cordoned(kube) == 5
    held = [plan.held for plan in ended if plan.state is PlanState.WAITING]
    assert all("5 of 5 nodes out of service" in reason for reason in held), "each says who holds the rest"


@pytest.mark.parametrize("most", [1, 200], ids=["a transaction each", "one transaction"])
async def test_plans_that_begin_together_take_no_more_transactions_than_each_alone(
    yard: Yard, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """One that was let begin in the transaction of others begins its first step with its own part."""
    monkeypatch.setattr(plan_commits, "MOST", most)
    plans = [await yard.confirmed(await yard.plan(f"node cordon {name}")) for name in NODES[:5]]
    counting = CountingStore(yard.store)
    executor = PlanExecutor(counting, {CLUSTER: yard.writer}, yard.clock, gate=yard.pipeline.gate)
    first = await executor.execute(plans[0])
    alone = counting.units
    counting.start_again()
    ended = await asyncio.gather(*map(executor.execute, plans[1:]))
    assert {plan.state for plan in (first, *ended)} == {PlanState.DONE}
    assert counting.units <= 4 * alone
    assert alone == 2


class Killed(DyingStore):
    """The store as one process sees it, which is killed there: no later transaction begins either."""

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Any]:
        if self._left <= 0:
            raise Crash
        async with super().unit() as unit:
            yield unit


@pytest.mark.parametrize("lands", [False, True], ids=["before the commit", "after the commit"])
@pytest.mark.parametrize("at", range(1, 7))
async def test_when_one_of_two_executors_is_killed_the_budget_holds_and_is_right_again(
    yard: Yard, kube: KubernetesLookalike, monkeypatch: pytest.MonkeyPatch, at: int, lands: bool
) -> None:
    monkeypatch.setattr(plan_commits, "MOST", 2)  # else all that begin and end together have two transactions
    plans = [await yard.confirmed(await yard.plan(f"node cordon {name}")) for name in NODES[:16]]
    killed = PlanExecutor(
        Killed(yard.store, at, lands=lands), {CLUSTER: yard.writer}, yard.clock, gate=yard.pipeline.gate
    )
    found = await asyncio.gather(
        *((killed, yard.executor)[number % 2].execute(plan) for number, plan in enumerate(plans)),
        return_exceptions=True,
    )
    assert any(isinstance(one, Crash) for one in found)
    assert cordoned(kube) <= 5
    after = executor_of(yard, yard.pipeline.budgets or pytest.fail("no budgets"))
    left = [await yard.stored(plan.id) for plan in plans]
    ended = await asyncio.gather(*map(after.execute, left))
    states = [plan.state for plan in ended]
    assert (states.count(PlanState.DONE), states.count(PlanState.WAITING)) == (5, 11)
    assert cordoned(kube) == 5
    assert all("5 of 5 nodes out of service" in plan.held for plan in ended if plan.held)


async def test_small_plans_do_not_starve_a_large_one_that_waits_longer(yard: Yard) -> None:
    await cordon(yard, *NODES[:4])
    large = await waits_for(yard, NODES[10], NODES[11])
    small = await waits_for(yard, NODES[12])
    assert "1 more" not in small.held
    assert f"plan {large.id} of dana waits longer for pool a, and goes first" in small.held
    assert "waits longer" in text_of(card_of(small, await yard.records(small)))
    listed = (await yard.say("plan list")).splitlines()
    (line,) = [one for one in listed if one.startswith(f"{small.id} |")]
    assert "| budget | plan" in line

    yard.clock.move(timedelta(minutes=2))
    await yard.do(f"node uncordon {NODES[0]}")
    await is_out(yard, NODES[0], out=False)
    free = await yard.executor.let_go([small, large])
    assert [plan.id for plan in free] == [large.id], "there is room for two, and the small one waits on"
    now_waits = await yard.stored(small.id)
    assert f"plan {large.id} of dana has it" in now_waits.held


async def test_a_plan_that_never_fits_keeps_nobody_waiting(yard: Yard) -> None:
    await cordon(yard, *NODES[:4])
    await waits_for(yard, *NODES[10:16])
    plan = await yard.confirmed(await yard.plan(f"node cordon {NODES[20]}"))
    assert (await yard.executor.execute(plan)).state is PlanState.DONE


async def waits_for(yard: Yard, *nodes: str) -> Plan:
    """Return a plan that cordons all these nodes, and waits."""
    parts = [await yard.plan(f"node cordon {node}") for node in nodes]
    plan = await yard.confirmed(parts[0])
    steps = tuple(step for part in parts for step in part.steps)
    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(replace(plan, stages=(Stage(steps=steps),)))
    yard.clock.move(timedelta(seconds=1))
    held = await yard.executor.execute(await yard.stored(plan.id))
    assert held.state is PlanState.WAITING, held.error
    return held


@pytest.mark.parametrize("many", [200])
async def test_all_plans_that_wait_are_judged_by_one_look_however_many_there_are(
    yard: Yard, many: int
) -> None:
    held = await held_back(yard, f"node cordon {NODES[5]}")
    counting = CountingStore(yard.store)
    executor = PlanExecutor(counting, {CLUSTER: yard.writer}, yard.clock, gate=yard.pipeline.gate)

    async def reads(plans: list[Plan]) -> int:
        async with yard.store.unit() as unit:
            for plan in plans:
                await unit.rows(Plan).put(plan)
        assert await executor.let_go(plans) == []
        counting.start_again()
        assert await executor.let_go(plans) == [], "nothing has changed"
        assert counting.units == 0, "so nothing is written"
        return counting.reads

    one = await reads([held])
    stages = [(await yard.plan(f"node cordon {node}")).stages for node in NODES[6:]]
    plans = [replace(held, id=f"w{one}", stages=stages[one % len(stages)]) for one in range(many)]
    assert await reads([held, *plans]) == one
    assert one <= 6
    async with yard.store.unit() as unit:
        found = await unit.rows(Plan).get_all([plan.id for plan in plans])
    assert all(plan.state is PlanState.WAITING and plan.held for plan in found.values())

    yard.clock.move(timedelta(minutes=2))
    await yard.do(f"node uncordon {NODES[0]}")
    await is_out(yard, NODES[0], out=False)
    counting.start_again()
    free = await executor.let_go([held, *plans])
    assert [plan.id for plan in free] == [held.id], "one place is free, and the oldest gets it"
    assert counting.reads <= 2 * one + many, "each audit entry is looked up once"
