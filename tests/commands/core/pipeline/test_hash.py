"""A plan is confirmed with the hash of what was shown, which the buttons carry and `plan show` prints."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from commands.execution.plan import PlanState
from tests.support.yard import Yard, yard_on


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_on(tmp_path, "gpu-a01") as yard:
        yield yard


async def state(yard: Yard, id: str) -> PlanState:
    plan = await yard.stored(id)
    return plan.state


async def test_without_a_hash_nothing_is_confirmed_and_the_answer_says_where_to_find_it(yard: Yard) -> None:
    plan = await yard.plan("node cordon gpu-a01")

    reply = await yard.say(f"plan confirm {plan.id}")

    assert f"To confirm plan {plan.id}, press Confirm on its preview." in reply
    assert f"plan show {plan.id}" in reply
    assert plan.hash not in reply
    assert await state(yard, plan.id) is PlanState.PROPOSED


async def test_plan_show_of_a_proposed_plan_has_the_hash_and_the_buttons(yard: Yard) -> None:
    plan = await yard.plan("node cordon gpu-a01")

    shown = await yard.say(f"plan show {plan.id}")

    assert plan.hash in shown
    assert "Confirm" in shown
    await yard.say(f"plan confirm {plan.id} --hash {plan.hash}")
    assert await state(yard, plan.id) is PlanState.CONFIRMED
