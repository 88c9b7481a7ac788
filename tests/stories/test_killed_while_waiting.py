"""`kill -9` while plans wait for a budget, a window, a second person, two owners: they wait on, and are done once."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.support import waiting_plans
from tests.support.examples import by_profile
from tests.support.light import light
from tests.support.process import Process
from tests.support.waiting_plans import waiting_on

SEED = 23  # unless the run has one
LIVES = 3.0  # seconds between a start and a kill, at most


@pytest.mark.soak
@pytest.mark.parametrize("kills", by_profile([4], [4, 30]))
async def test_what_waits_is_killed_again_and_again_waits_on_and_is_done_once(
    tmp_path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None], kills: int
) -> None:
    """The last kill is while what they wait for has just ended."""
    seed = int(pytestconfig.getoption("--hypothesis-seed") or SEED)
    random = Random(seed)
    async with light(tmp_path, start=False) as stage, waiting_on(stage) as waiting:
        process = await Process.begin(stage)
        try:
            await waiting_plans.begin(waiting)
            for _ in range(kills - 1):
                await asyncio.sleep(random.uniform(0.0, LIVES))
                await process.end(signal.SIGKILL)
                assert await waiting_plans.still_wait(waiting) == [], "it waits on"
                process = await Process.begin(stage)
            await waiting_plans.end(waiting)
            await asyncio.sleep(random.uniform(0.0, LIVES))
            await process.end(signal.SIGKILL)
            process = await Process.begin(stage)
            await waiting_plans.all_done(waiting)
        finally:
            await process.end(signal.SIGTERM)
        found = await waiting_plans.faults(waiting)
        record_property("kills", {"seed": seed, "kills": kills, "faults": found})
        assert found == [], f"seed {seed}"
