"""This file entertains: it plays scenarios one after the other, and leaves it to people to act."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from itertools import cycle

from rich.console import Console

from demo.scenario import Scenario
from demo.stage import Stage

FIRST_AFTER = timedelta(seconds=3)
LASTS = timedelta(seconds=90)  # a fault that nobody mends; hardware is mended by the facility then
BETWEEN = timedelta(seconds=25)


async def entertain(stage: Stage, scenarios: Sequence[Scenario], console: Console) -> None:
    """For ever."""
    playable = [scenario for scenario in scenarios if scenario.happens]
    await asyncio.sleep(FIRST_AFTER.total_seconds())
    for scenario in cycle(playable):
        console.print(f"[dim]now:[/] {scenario.title}. {scenario.story}")
        for fault in scenario.happens:
            stage.break_it(fault)
        await asyncio.sleep(LASTS.total_seconds())
        for name in scenario.mends:
            stage.mend(name)
        await asyncio.sleep(BETWEEN.total_seconds())
