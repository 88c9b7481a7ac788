"""Kill points: a process that a test ends at an await of its choice, while all that is outside it goes on."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import ContextVar, copy_context
from typing import Any

_PROCESS: ContextVar["Killer | None"] = ContextVar("process", default=None)


class Killer:
    """Counts the awaits at which `run`, and whatever tasks it starts, wait; ends `run` at the chosen one.

    0 ends it at none; `on_strike` is called at that moment. Senders, people and servers that a test runs beside it are
    not counted.
    """

    def __init__(self, at: int = 0, *, on_strike: Callable[[], None] = lambda: None) -> None:
        self.count = 0
        self._at = at
        self._on_strike = on_strike
        self._run: asyncio.Task[None] | None = None

    @property
    def has_struck(self) -> bool:
        return 0 < self._at <= self.count

    async def execute(self, run: Coroutine[Any, Any, None], after: Callable[[], Awaitable[object]]) -> bool:
        """Run it until `after` returns or it is killed. Return whether it was killed."""
        loop = asyncio.get_running_loop()
        before = loop.get_task_factory()
        factory: Any = self._task  # whose keywords differ between versions of Python
        loop.set_task_factory(factory)
        context = copy_context()
        context.run(_PROCESS.set, self)
        try:
            self._run = loop.create_task(run, context=context)
            await after()
            self._run.cancel()
            await asyncio.wait([self._run])
        finally:
            loop.set_task_factory(before)
        return self.has_struck

    @property
    def running(self) -> "asyncio.Task[None]":
        """The process, while it runs."""
        assert self._run is not None
        return self._run

    def count_one(self) -> None:
        """Count an await of the current task; at the chosen one it is cancelled, and with it the whole process."""
        self.count += 1
        if self.count == self._at:
            self._on_strike()
            self.running.cancel()
            current = asyncio.current_task()
            if current is not None and current is not self.running:
                current.cancel()

    def _task(
        self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **more: Any
    ) -> "asyncio.Task[Any]":
        context = more.get("context") or copy_context()
        counted = _Steps(work, self) if context.get(_PROCESS) is self else work
        return asyncio.Task(counted, loop=loop, **more)


class _Steps(Coroutine[Any, Any, Any]):
    """A coroutine that counts its steps."""

    def __init__(self, work: Coroutine[Any, Any, Any], killer: Killer) -> None:
        self._work = work
        self._killer = killer

    def send(self, value: Any) -> Any:
        return self._counted(self._work.send(value))

    def throw(self, *error: Any) -> Any:
        return self._counted(self._work.throw(*error))

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        raise NotImplementedError("only a task runs it")

    def _counted(self, awaited: Any) -> Any:
        self._killer.count_one()
        return awaited
