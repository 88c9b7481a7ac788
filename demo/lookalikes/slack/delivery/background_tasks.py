"""Background tasks of the look-alike: named, stopped at the end, and a crash is never lost."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class BackgroundTasks:
    """The background tasks of one look-alike; `close` stops them all."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._crash: BaseException | None = None

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        """Run `work` in the background."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._crash = self._crash or task.exception()

    async def close(self) -> None:
        """Cancel all tasks."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def check(self) -> None:
        """Raise the first task's exception, so that a test cannot miss it."""
        if self._crash is not None:
            raise self._crash
