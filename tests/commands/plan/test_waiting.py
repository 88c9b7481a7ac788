"""`plan list`: what waits, for what, since when, and whose it is."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from commands.core.budget_pictures import Pool
from tests.support.budgets import keep_budgets, of_pool
from tests.support.yard import Yard, yard_on

NODES = ("gpu-a01", "gpu-a02", "gpu-a03")


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_on(tmp_path, *NODES) as yard:
        keep_budgets(yard, of_pool(1), pools={"a": Pool()})
        yield yard


async def test_it_lists_what_waits_and_leaves_out_what_is_over_or_late(yard: Yard) -> None:
    assert "No plans are waiting or running." in await yard.say("plan list")
    done = await yard.do("node cordon gpu-a01")
    waiting = await yard.executor.execute(await yard.confirmed(await yard.plan("node cordon gpu-a02")))
    yard.clock.move(timedelta(minutes=5))
    proposed = await yard.plan("node cordon gpu-a03")
    lines = (await yard.say("plan list")).splitlines()
    assert not any(line.startswith(f"{done.id} |") for line in lines)
    (held,) = [line for line in lines if line.startswith(f"{waiting.id} |")]
    assert held.startswith(
        f"{waiting.id} | Cordon gpu-a02 | dana | waiting | 5 min | budget | Budget of pool a: 1 of 1"
    )
    (asked,) = [line for line in lines if line.startswith(f"{proposed.id} |")]
    assert asked.endswith("a confirmation")
    yard.clock.move(yard.pipeline.defaults.plan_expires)
    assert proposed.id not in await yard.say("plan list")
