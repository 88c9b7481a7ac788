"""One unit at a time, a signal of what each changed, and calls that a cancellation does not interrupt."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from alerts.store import Changed, Listener


class WriteLock:
    """One writer at a time, in the order of the requests."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._owner: asyncio.Task[object] | None = None

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """Hold the lock. Raises RuntimeError if this task already holds it, as it would wait for itself."""
        task = asyncio.current_task()
        if task is not None and self._owner is task:
            raise RuntimeError("a unit is already open in this task: use it, units do not nest")
        async with self._lock:
            self._owner = task
            try:
                yield
            finally:
                self._owner = None


class ChangeSignal:
    """Calls listeners after each commit with what it changed. They run in the event loop and must be fast."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Add a listener. Return a function that removes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def publish(self, changed: Changed) -> None:
        if changed:
            for listener in tuple(self._listeners):
                listener(changed)


T = TypeVar("T")


async def uninterrupted(call: Coroutine[Any, Any, T]) -> T:
    """Await the call to its end even if this task is cancelled meanwhile; only then raise the cancellation.

    SQLAlchemy throws a connection away whose call is cancelled, and a second cancellation can interrupt that:
    its transaction then stays open, and the database locked, until the garbage collector finds it.
    """
    task = asyncio.ensure_future(call)  # noqa: TID251 - it ends before this function does
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        task.exception()  # the cancellation is what the caller must see
        raise cancelled
    return task.result()
