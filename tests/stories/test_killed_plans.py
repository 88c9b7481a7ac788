"""SIGKILL at any point of a drain of 40 pods, a repair and an acceptance: complete, or stopped with the reason.

No step is done twice, and no pod of a script is left behind. There are thirty kills in `make soak`.
"""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.support.examples import by_profile
from tests.support.killed_plans import PODS, SETTINGS, KilledPlans
from tests.support.light import light
from tests.support.process import Process

SEED = 24  # unless the run has one
KILLS = by_profile(4, 30)
LIVES = by_profile(1.0, 2.0)  # seconds between the confirmation of a plan and a kill, at most
PACE = by_profile(0.3, 2.5)  # seconds from one pod's end to the next: the drain takes as long as the kills
SETTLED = by_profile(60.0, 240.0)  # seconds


@pytest.mark.soak
async def test_plans_whose_process_is_killed_at_any_point_end_once_and_leave_nothing(
    tmp_path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    seed = int(pytestconfig.getoption("--hypothesis-seed") or SEED)
    random = Random(seed)
    async with (
        light(tmp_path, start=False, more=SETTINGS) as stage,
        KilledPlans.on(stage, random=random, pace=PACE, most=KILLS) as plans,
    ):
        process = await Process.begin(stage)
        try:
            for _ in range(KILLS):
                await plans.begin_another()
                await asyncio.sleep(random.uniform(0.0, LIVES))
                await process.end(signal.SIGKILL)
                process = await Process.begin(stage)
            plans.pace = 0.05
            found = await plans.settled(SETTLED)
        finally:
            code = await process.end(signal.SIGTERM)
        ends = await plans.ends()
    record_property("kills", {"seed": seed, "kills": KILLS, "plans": ends, "faults": found})
    assert found == [], f"seed {seed}"
    assert len(plans.evicted) == PODS
    assert code == 0
