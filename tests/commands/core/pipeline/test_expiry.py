"""The expiry of a proposed plan, which follows the time that passed and no clock step."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from commands.execution.plan import Plan, PlanState
from tests.support.yard import Yard, yard_on

LITTLE = timedelta(minutes=1)


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_on(tmp_path, "gpu-a01") as yard:
        yield yard


async def confirmed(yard: Yard, plan: Plan) -> bool:
    await yard.say(f"plan confirm {plan.id} --hash {plan.hash}")
    async with yard.store.read() as snapshot:
        stored = await snapshot.rows(Plan).get(plan.id)
    return stored is not None and stored.state is PlanState.CONFIRMED


@pytest.mark.parametrize(
    "step", [timedelta(days=-1), timedelta(hours=-1), timedelta(hours=1), timedelta(days=1)]
)
async def test_a_clock_step_expires_no_plan(yard: Yard, step: timedelta) -> None:
    plan = await yard.plan("node cordon gpu-a01")
    yard.clock.move(LITTLE)
    yard.clock.set_by(step)
    assert await confirmed(yard, plan)


@pytest.mark.parametrize("step", [timedelta(), timedelta(hours=-1), timedelta(days=-1)])
async def test_a_clock_step_back_keeps_no_plan_open(yard: Yard, step: timedelta) -> None:
    plan = await yard.plan("node cordon gpu-a01")
    yard.clock.move(plan.expires_at - plan.created_at)
    yard.clock.set_by(step)
    assert not await confirmed(yard, plan)
