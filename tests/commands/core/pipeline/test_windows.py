"""Plans and windows: waiting for the end of one, also over a crash, and stopping between two stages."""

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from alerts.store import StoreSnapshot
from alerts.time_intervals import TimeInterval, read_period
from commands.core.windows import WindowGate
from commands.execution.executor import PlanExecutor
from commands.execution.plan import GateName, Plan, PlanState, Stage, StepState
from commands.execution.plan_gate import LETS_GO, GateVerdict, PlanJudge
from commands.gates.window import PlannedWindow
from tests.support.yard import CLUSTER, Yard, yard_on

NODES = ("gpu-a01", "gpu-a02")
MORNING = TimeInterval(name="freeze", periods=(read_period(times=[("11:00", "20:00")]),))


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_on(tmp_path, *NODES) as yard:
        windows = WindowGate(
            windows=(PlannedWindow(interval=MORNING, people_wait_with=("node cordon",)),), clock=yard.clock
        )
        yard.pipeline = replace(yard.pipeline, gates=(windows,))
        yard.executor = PlanExecutor(yard.store, {CLUSTER: yard.writer}, yard.clock, gate=yard.pipeline.gate)
        yield yard


def after_a_crash(yard: Yard) -> PlanExecutor:
    return PlanExecutor(yard.store, {CLUSTER: yard.writer}, yard.clock, gate=yard.pipeline.gate)


async def test_what_waits_for_a_window_is_done_once_after_it_by_the_next_process(yard: Yard) -> None:
    shown = await yard.say(f"node cordon {NODES[0]}")
    assert "Confirmed, it would wait. window freeze lasts until 2026-11-21 20:00" in shown
    assert "[Do it in the window…] plan exceed" in shown
    plan = await yard.plan(f"node cordon {NODES[0]}")
    waiting = await yard.executor.execute(await yard.confirmed(plan))
    assert waiting.state is PlanState.WAITING
    yard.clock.move(timedelta(hours=5))
    waiting = await after_a_crash(yard).execute(waiting)
    assert waiting.state is PlanState.WAITING, "it is not given up before the window ends"
    yard.clock.move(timedelta(hours=4))
    done = await after_a_crash(yard).execute(waiting)
    assert done.state is PlanState.DONE
    assert (await after_a_crash(yard).execute(done)) == done


async def test_a_plan_that_does_not_wait_for_a_window_says_so_and_not_that_it_goes_over_a_budget(
    yard: Yard,
) -> None:
    waiting = await yard.executor.execute(await yard.confirmed(await yard.plan(f"node cordon {NODES[0]}")))
    shown = await yard.say(f'plan exceed {waiting.id} --reason "it loses data"')
    assert "It does not wait for the end of a window: it loses data" in shown
    assert "A second person has to confirm it: it does not wait for the end of a window." in shown
    assert "budget" not in shown
    over = await yard.newest()
    assert over is not None
    assert over.replaces == waiting.id
    done = await yard.executor.execute(await yard.confirmed(over))
    assert done.state is PlanState.DONE, done.error


class Shuts:
    """A gate that shuts once the plan has begun."""

    name = GateName.RULE

    async def look(
        self, _plans: Sequence[Plan], _rows: StoreSnapshot, *, held: Collection[str] = ()
    ) -> PlanJudge:
        blind = GateVerdict(reason="its source is blind")
        return lambda plan: blind if plan.state is PlanState.RUNNING else LETS_GO


async def test_a_gate_that_shuts_stops_a_plan_before_its_next_stage(yard: Yard) -> None:
    yard.clock.move(timedelta(hours=9))
    one, two = [await yard.plan(f"node cordon {node}") for node in NODES]
    confirmed = await yard.confirmed(one)
    staged = replace(confirmed, stages=(Stage(steps=one.steps), Stage(steps=two.steps)))
    async with yard.store.unit() as unit:
        await unit.rows(Plan).put(staged)
    executor = PlanExecutor(yard.store, {CLUSTER: yard.writer}, yard.clock, gate=Shuts())
    ended = await executor.execute(staged)
    assert ended.state is PlanState.CANCELLED
    assert ended.error == "it was stopped before its next stage: its source is blind"
    states = [record.state for record in await yard.records(ended)]
    first = len(one.steps)
    assert states == [StepState.DONE] * first + [StepState.SKIPPED] * (len(states) - first)
