"""Six real kills lose and repeat no alert, message, silence, acknowledgement or step. `make soak` has more."""

from pathlib import Path
from random import Random

import pytest

from tests.support.kill_stage import MOMENTS, KillStage
from tests.support.killed_plans import JOBS, PODS, KilledPlans
from tests.support.light import light

SEED = 24  # unless the run has one


async def test_a_process_that_is_killed_at_each_moment_loses_and_repeats_nothing(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """A drain of many pods runs meanwhile, and in each round a repair begins."""
    random = Random(int(pytestconfig.getoption("--hypothesis-seed") or SEED))
    async with (
        light(tmp_path, start=False, more=JOBS) as stage,
        KillStage.on(stage) as kills,
        KilledPlans.on(stage, random=random, pace=0.3) as plans,
    ):
        for moment in MOMENTS:
            await kills.round(moment, plans.begin_another)
        assert await kills.left(plans.settled) == []
        assert (len(kills.taken), len(kills.ended), len(kills.acknowledged), len(kills.silences)) == (
            5,
            1,
            1,
            1,
        )
        assert len(plans.repaired) == len(MOMENTS)
        assert len(plans.evicted) == PODS
