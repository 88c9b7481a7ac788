"""This file owns the work that goes on beside a request: it is named, bounded in life, and its crash is not lost."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class BackgroundTasks:
    """Background work of one look-alike; all of it ends with `close`."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._crash: BaseException | None = None

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Do it beside."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._crash = self._crash or task.exception()

    async def close(self) -> None:
        """Stop everything."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def check(self) -> None:
        """Raise what the first crashed chore raised, so that a test cannot miss it."""
        if self._crash is not None:
            raise self._crash
