"""Plans and their budgets: what waits, what lets it go on, and how it goes over."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from alerts.cards.posted import CardKind, PostedCard, ThreadReply, new_card
from alerts.cards.text import plain
from bot.jobs.plan_runner import PlanRunner
from commands.core.budget_pictures import Pool
from commands.core.budgets import Budgets
from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.core.request import Actor
from commands.execution.executor import PlanExecutor
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import GateName, Plan, PlanState, Risk, Stage, StepRecord, StepState
from commands.execution.plan_gate import HELD_AT_MOST, Gates
from commands.execution.preview import card_of
from commands.execution.steps import NodeJob
from commands.gates.budget import Budget, BudgetScope
from commands.models import AuditEntry
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.counting_store import CountingStore
from tests.support.drained import until
from tests.support.execution import Crash, a_job
from tests.support.yard import CLUSTER, Yard, a_node_tree, lookalike_with, text_of, yard_before

ELI = Actor(id="U_ELI", name="eli", teams=frozenset({"sre"}))
NODES = tuple(f"gpu-a{number:02}" for number in range(1, 51))
FIVE = (Budget(scope=BudgetScope.POOL, of="a", nodes=5),)


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    async with lookalike_with(*NODES, "gpu-b01") as kube:
        yield kube


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    permissions = Permissions(teams={"sre": Grant(commands=("*",))}, automation={})
    async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig"), permissions=permissions) as yard:
        budgets = Budgets(
            clusters={CLUSTER: yard.cluster},
            clock=yard.clock,
            budgets=FIVE,
            pools={"a": Pool(names=("gpu-a*",))},
        )
        yard.pipeline = replace(yard.pipeline, budgets=budgets)
        yard.executor = executor_of(yard, budgets)
        yield yard


def executor_of(yard: Yard, budgets: Budgets) -> PlanExecutor:
    return PlanExecutor(yard.store, {CLUSTER: yard.writer}, yard.clock, gate=Gates((budgets,)))


async def stored(yard: Yard, id: str) -> Plan:
    async with yard.store.unit() as unit:
        found = await unit.rows(Plan).get(id)
    assert found is not None
    return found


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


async def test_the_preview_shows_the_figures(yard: Yard) -> None:
    await cordon(yard, *NODES[:2])
    shown = await yard.say(f"node cordon {NODES[2]}")
    assert "Budget of pool a: 2 of 5 nodes out of service" in shown
    assert f"{NODES[0]}: cordoned by dana until 2026-11-21 16:00 UTC (no reason given)" in shown
    assert "Confirmed, it would wait." not in shown
    assert "Budget" not in await yard.say("node cordon gpu-b01")


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


async def test_a_node_that_somebody_else_cordoned_counts(yard: Yard, kube: KubernetesLookalike) -> None:
    for name in NODES[:5]:
        kube.patch("Node", "", name, {"spec": {"unschedulable": True}})
        await is_out(yard, name)
    shown = await yard.say(f"node cordon {NODES[5]}")
    assert "5 of 5 nodes out of service" in shown
    assert "cordoned by somebody else" in shown


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


class Killed:
    """The store as one process sees it, which is killed at its n-th transaction, just before or after the commit."""

    def __init__(self, store: Any, at: int, *, lands: bool) -> None:
        self._store = store
        self._left = at
        self._lands = lands

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @asynccontextmanager
    async def unit(self) -> AsyncGenerator[Any]:
        self._left -= 1
        if self._left < 0:
            raise Crash
        async with self._store.unit() as unit:
            yield unit
            if self._left == 0 and not self._lands:
                raise Crash
        if self._left == 0:
            raise Crash


@pytest.mark.parametrize("lands", [False, True], ids=["before the commit", "after the commit"])
@pytest.mark.parametrize("at", range(1, 7))
async def test_when_one_of_two_executors_is_killed_the_budget_holds_and_is_right_again(
    yard: Yard, kube: KubernetesLookalike, at: int, lands: bool
) -> None:
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
    left = [await stored(yard, plan.id) for plan in plans]
    ended = await asyncio.gather(*map(after.execute, left))
    states = [plan.state for plan in ended]
    assert (states.count(PlanState.DONE), states.count(PlanState.WAITING)) == (5, 11)
    assert cordoned(kube) == 5
    assert all("5 of 5 nodes out of service" in plan.held for plan in ended if plan.held)


@asynccontextmanager
async def runs_plans(yard: Yard) -> AsyncGenerator[None]:
    """Run plans as the next process does."""
    runner = PlanRunner(
        yard.store, yard.executor, channel="", renew=yard.pipeline.decisions.renew, gate_again=0.05
    )
    yard.store.listen(runner.wake)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(runner.run())
        yield
        running.cancel()


async def held_back(yard: Yard, line: str) -> Plan:
    """Return the plan of a line, which waits for its budget: five nodes are out."""
    await cordon(yard, *NODES[:5])
    plan = await yard.executor.execute(await yard.confirmed(await yard.plan(line)))
    assert plan.state is PlanState.WAITING
    return plan


async def make_room(yard: Yard) -> None:
    yard.clock.move(timedelta(minutes=2))
    await yard.do(f"node uncordon {NODES[0]}")


def has_state(yard: Yard, plan: Plan, state: PlanState) -> Callable[[], Awaitable[bool]]:
    async def holds() -> bool:
        return (await stored(yard, plan.id)).state is state

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
    ended = await stored(yard, plan.id)
    assert "it was held back, and nothing was done: The cluster changed" in ended.error
    assert f"Run `{plan.line}` again." in ended.error
    assert not (kube.get("Node", "", NODES[5]) or {})["spec"].get("unschedulable")


async def test_going_over_takes_a_reason_and_a_second_person_and_ends_the_waiting_plan(yard: Yard) -> None:
    waiting = await held_back(yard, f"node cordon {NODES[5]}")
    form = await yard.answer(f"plan exceed {waiting.id}")
    assert form is not None
    assert form.form is not None, "the reason is asked for in a form"

    shown = await yard.say(f'plan exceed {waiting.id} --reason "it loses data"')
    assert "It goes over its budget: it loses data" in shown
    assert "A second person has to confirm it: it goes over a budget." in shown
    over = await yard.newest()
    assert over is not None
    assert (over.risk, over.line, over.command) == (Risk.BREAK, waiting.line, waiting.command)
    assert "someone else has to confirm" in await yard.say(f"plan confirm {over.id} --hash {over.hash}")
    assert "is not the plan you were shown" in await yard.say(
        f"plan confirm {over.id} --hash {waiting.hash}", ELI
    )
    assert (await stored(yard, waiting.id)).state is PlanState.WAITING
    done = await yard.executor.execute(await yard.confirmed(over, ELI))
    assert done.state is PlanState.DONE
    replaced = await stored(yard, waiting.id)
    assert (replaced.state, str(replaced.error)) == (PlanState.CANCELLED, f"replaced by {over.id}")
    assert (await yard.executor.execute(replaced)).state is PlanState.CANCELLED
    async with yard.store.unit() as unit:
        entries = await unit.rows(AuditEntry).find(plan=over.id)
    assert [entry.what for entry in entries] == ["refused", "confirmed", "done"]


async def test_a_proposal_that_would_wait_goes_over_at_once_but_not_when_it_is_late(yard: Yard) -> None:
    await cordon(yard, *NODES[:5])
    late = await yard.plan(f"node cordon {NODES[5]}")
    yard.clock.move(yard.pipeline.defaults.plan_expires + timedelta(seconds=1))
    assert "has expired" in await yard.say(f"plan exceed {late.id} --reason urgent")
    fresh = await yard.plan(f"node cordon {NODES[5]}")
    await yard.say(f"plan exceed {fresh.id} --reason urgent")
    over = await yard.newest()
    assert over is not None
    assert over.replaces == fresh.id
    assert (await yard.executor.execute(await yard.confirmed(over, ELI))).state is PlanState.DONE


async def test_a_cordon_of_a_plan_that_failed_counts_and_one_that_was_not_begun_does_not(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await cordon(yard, *NODES[:3])
    failed, idle = [await yard.confirmed(await yard.plan(f"node cordon {name}")) for name in NODES[3:5]]
    async with yard.store.unit() as unit:
        for plan in (failed, idle):
            await unit.rows(Plan).put(
                replace(plan, state=PlanState.FAILED, ended_at=yard.clock.now(), error="a test")
            )
        await unit.rows(StepRecord).put(
            StepRecord(plan=failed.id, number=0, cluster=CLUSTER, state=StepState.UNKNOWN)
        )
    shown = await yard.say(f"node cordon {NODES[5]}")
    assert "4 of 5 nodes out of service" in shown
    assert f"{NODES[3]}: plan {failed.id} of dana cordons it" in shown


async def test_nothing_goes_over_a_budget_that_holds_nothing_back(yard: Yard) -> None:
    plan = await yard.plan(f"node cordon {NODES[0]}")
    assert "Nothing holds plan" in await yard.say(f"plan exceed {plan.id} --reason now")


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


async def test_a_repair_counts_as_out_while_it_runs_and_as_disrupted_for_an_hour(yard: Yard) -> None:
    repair = await a_running_repair(yard, NODES[0])
    await cordon(yard, *NODES[1:4])
    shown = await yard.say(f"node cordon {NODES[5]}")
    assert "4 of 5 nodes out of service" in shown
    assert f"{NODES[0]}: plan {repair.id} of dana works on it" in shown
    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(replace(repair, state=PlanState.DONE, ended_at=yard.clock.now()))
    assert "3 of 5 nodes out of service" in await yard.say(f"node cordon {NODES[5]}"), "its node is back"

    hourly = (Budget(scope=BudgetScope.POOL, of="a", per_hour=4),)
    limited_to(yard, hourly)
    assert "4 of 4 nodes disrupted in the last hour" in await yard.say(f"node cordon {NODES[5]}")
    assert "4 of 4 nodes disrupted" not in await yard.say(f"node cordon {NODES[0]}"), "it is one of them"


async def test_a_repair_waits_for_its_budget_as_a_cordon_does(yard: Yard) -> None:
    await cordon(yard, *NODES[:5])
    waiting = await yard.confirmed(await yard.plan(f"node cordon {NODES[5]}"))
    (step,) = repair_steps(NODES[5])
    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(replace(waiting, stages=(Stage(steps=(step,)),)))
    held = await yard.executor.execute(await stored(yard, waiting.id))
    assert held.state is PlanState.WAITING
    assert held.gates == (GateName.BUDGET,)
    assert "Budget of pool a: 5 of 5" in held.held


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


async def a_running_repair(yard: Yard, node: str) -> Plan:
    plan = await yard.plan(f"node cordon {node}")
    running = replace(plan, state=PlanState.RUNNING, stages=(Stage(steps=repair_steps(node)),))
    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(running)
    return running


async def test_more_ended_plans_than_anyone_reads_hide_no_cordon_of_the_last_hour(yard: Yard) -> None:
    hourly = (Budget(scope=BudgetScope.POOL, of="a", per_hour=1),)
    limited_to(yard, hourly)
    done = await yard.do(f"node cordon {NODES[0]}")
    async with yard.store.unit() as unit:
        for number in range(250):
            idle = replace(done, id=f"idle{number}", stages=(), state=PlanState.DONE)
            await unit.rows(Plan).put(idle)
    assert "1 of 1 node disrupted in the last hour" in await yard.say(f"node cordon {NODES[1]}")


async def test_taints_of_a_fault_count_and_those_that_a_node_has_for_good_do_not(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    taint(kube, NODES[0], "node.kubernetes.io/disk-pressure")
    taint(kube, NODES[1], "nvidia.com/gpu")
    await yard.do(f"node taint {NODES[2]} gpu=broken:NoSchedule")
    await yard.seen(lambda: all(yard.cluster.inventory().nodes[name].spec.taints for name in NODES[:3]))
    shown = await yard.say(f"node cordon {NODES[5]}")
    assert "2 of 5 nodes out of service" in shown
    assert f"{NODES[0]}: tainted node.kubernetes.io/disk-pressure:NoSchedule" in shown
    assert f"{NODES[2]}: tainted gpu:NoSchedule" in shown
    out = await yard.say("node list --out")
    assert f"{NODES[0]} | not known | nobody's | tainted node.kubernetes.io/disk-pressure:NoSchedule" in out


def taint(kube: KubernetesLookalike, node: str, key: str) -> None:
    kube.patch("Node", "", node, {"spec": {"taints": [{"key": key, "effect": "NoSchedule"}]}})


async def test_a_taint_of_ours_is_under_the_budget_too(yard: Yard) -> None:
    await cordon(yard, *NODES[:5])
    plan = await yard.confirmed(await yard.plan(f"node taint {NODES[5]} gpu=broken:NoSchedule"))
    assert (await yard.executor.execute(plan)).state is PlanState.WAITING


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
    now_waits = await stored(yard, small.id)
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
    held = await yard.executor.execute(await stored(yard, plan.id))
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
