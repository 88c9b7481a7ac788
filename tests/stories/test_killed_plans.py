"""`kill -9` at any point of a drain of 40 pods and of repairs: complete, or stopped with the reason; no step twice."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.support.killed_plans import JOBS, PODS, KilledPlans
from tests.support.light import light
from tests.support.process import Process

SEED = 24  # unless the run has one
KILLS = 30
LIVES = 2.0  # seconds between the confirmation of a plan and a kill, at most
PACE = 2.5  # seconds from one pod's end to the next: the drain takes as long as the kills
SETTLED = 240.0  # seconds


@pytest.mark.soak
async def test_a_drain_and_repairs_that_are_killed_at_any_point_end_and_leave_nothing(
    tmp_path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    seed = int(pytestconfig.getoption("--hypothesis-seed") or SEED)
    random = Random(seed)
    async with (
        light(tmp_path, start=False, more=JOBS) as stage,
        KilledPlans.on(stage, random=random, pace=PACE) as plans,
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
            await process.end(signal.SIGTERM)
        ends = await plans.ends()
    record_property("kills", {"seed": seed, "kills": KILLS, "plans": ends, "faults": found})
    assert found == [], f"seed {seed}"
    assert len(plans.evicted) == PODS
    assert set(ends) <= {"done", "failed"}
