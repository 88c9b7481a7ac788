"""The ends of a remediation: the breaker, the end of its alert, a blind source."""

from dataclasses import replace

from commands.execution.executor import PlanExecutor
from commands.execution.plan import Plan, PlanState
from commands.gates.breaker import Breaker
from tests.bot.jobs.remediator.conftest import NODES, Stage
from tests.support.yard import CLUSTER


async def test_a_flapping_sensor_opens_the_breaker_and_nothing_of_the_backlog_runs(live: Stage) -> None:
    for _ in range(4):
        await live.fire(NODES[0])
        await live.look(seconds=5)
        await live.resolve(NODES[0])
        await live.look(minutes=2)
    states = [state for _, state in await live.states()]
    assert states == ["run", "nothing", "nothing", "stopped"]
    async with live.yard.store.unit() as unit:
        (breaker,) = await unit.rows(Breaker).find()
        assert len(await unit.rows(Plan).find()) == 1
    await live.fire(NODES[1])
    await live.look(minutes=1)
    shown = await live.yard.say("breaker list")
    assert "2 actions without effect within an hour" in shown
    assert f"node cordon {NODES[1]} --reason hot" in shown
    assert "--reason" in await live.yard.say(f"breaker close {breaker.id}")
    closed = await live.yard.say(f'breaker close {breaker.id} --reason "a new sensor"')
    assert "What it held back is not done: 2 lines." in closed
    await live.look(minutes=1)
    assert [state for _, state in await live.states()][3:] == ["stopped", "stopped"]
    assert "is closed already" in await live.yard.say(f"breaker close {breaker.id} --reason again")


async def test_a_plan_that_waits_ends_when_the_breaker_opens_or_its_alert_is_over(live: Stage) -> None:
    await live.fire(NODES[0])
    await live.remediator.look(CLUSTER)
    async with live.yard.store.unit() as unit:
        (plan,) = await unit.rows(Plan).find()
    await live.resolve(NODES[0])
    ended = await live.yard.executor.execute(plan)
    assert (ended.state, ended.error) == (PlanState.CANCELLED, "nothing was done: its alert is over")


async def test_a_source_that_goes_blind_stops_it_before_its_next_stage(live: Stage) -> None:
    await live.fire(NODES[0])
    await live.remediator.look(CLUSTER)
    other = await live.yard.plan(f"node cordon {NODES[1]}")
    async with live.yard.store.unit() as unit:
        (plan,) = await unit.rows(Plan).find(state=PlanState.CONFIRMED.value)
        plan = replace(plan, stages=(*plan.stages, *other.stages))
        await unit.rows(Plan).put(plan)
    executor = PlanExecutor(
        live.yard.store,
        {CLUSTER: live.yard.writer},
        live.yard.clock,
        gate=live.yard.pipeline.gates[1],  # budgets would hold two nodes back
        observe=lambda _kind, _outcome: live.blind.update(prometheus="timed out"),
    )
    ended = await executor.execute(plan)
    assert ended.state is PlanState.CANCELLED
    assert ended.error == ("it was stopped before its next stage: prometheus cannot be seen: timed out")
    await live.out(NODES[0])
    assert not live.yard.cluster.inventory().nodes[NODES[1]].spec.unschedulable
