"""This file is the only one that starts tasks: the core ends us when it fails, an edge is started again."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping

import structlog

Work = Callable[[], Awaitable[None]]

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0  # seconds
HEALTHY_AFTER = 120.0  # a run this long forgives the failures before it

_log = structlog.get_logger()


async def run_together(*, core: Mapping[str, Work], edges: Mapping[str, Work]) -> None:
    """Run it all until cancelled, or until a core part fails or ends."""
    async with asyncio.TaskGroup() as tasks:
        for name, work in core.items():
            tasks.create_task(_never_ends(name, work), name=name)
        for name, work in edges.items():
            tasks.create_task(keep_alive(name, work), name=name)


async def keep_alive(name: str, work: Work) -> None:
    """Run an edge for ever: what it raises is logged, and it is started again after a growing pause."""
    loop = asyncio.get_running_loop()
    pause = FIRST_PAUSE
    while True:
        began = loop.time()
        try:
            await work()
            _log.warning("an edge ended, it is started again", edge=name)
        except Exception as error:
            _log.warning("an edge failed, it is started again", edge=name, error=repr(error)[:500])
        if loop.time() - began >= HEALTHY_AFTER:
            pause = FIRST_PAUSE
        await asyncio.sleep(pause * random.uniform(0.8, 1.2))
        pause = min(pause * 2, LONGEST_PAUSE)


async def _never_ends(name: str, work: Work) -> None:
    await work()
    raise RuntimeError(f"{name} ended, though it never should")
