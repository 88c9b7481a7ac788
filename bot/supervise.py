"""Supervision of tasks: a part that fails or ends is restarted alone, after a growing pause."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping

import structlog

from collectors.internal_errors import InternalErrors

Work = Callable[[], Awaitable[None]]

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0  # seconds
HEALTHY_AFTER = 120.0  # a run this long resets the pause

_log = structlog.get_logger()


async def run_together(parts: Mapping[str, Work], errors: InternalErrors) -> None:
    """Run all parts until cancelled, each restarted alone. A part must start from what is stored."""
    async with asyncio.TaskGroup() as tasks:
        for name, work in parts.items():
            tasks.create_task(_keep_alive(name, work, errors), name=name)


async def _keep_alive(name: str, work: Work, errors: InternalErrors) -> None:
    loop = asyncio.get_running_loop()
    pause = FIRST_PAUSE
    while True:
        began = loop.time()
        try:
            await work()
            _log.warning("part ended, restarting", part=name)
        except Exception as error:
            errors.contain(error, name)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            _log.warning("part was cancelled from inside, restarting", part=name)
        if loop.time() - began >= HEALTHY_AFTER:
            pause = FIRST_PAUSE
        await asyncio.sleep(pause * random.uniform(0.8, 1.2))
        pause = min(pause * 2, LONGEST_PAUSE)
