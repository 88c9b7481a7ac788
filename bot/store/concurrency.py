"""This file lets one unit in at a time, and tells listeners what each changed."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from bot.store.unit import Changed

Listener = Callable[[Changed], None]


class WriteLock:
    """One writer at a time, in the order of asking."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._owner: asyncio.Task[object] | None = None

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[None]:
        """Hold the turn. Raises RuntimeError when this task already holds it: it would wait for itself."""
        task = asyncio.current_task()
        if task is not None and self._owner is task:
            raise RuntimeError("a unit is open in this task already: use that one, units do not nest")
        async with self._lock:
            self._owner = task
            try:
                yield
            finally:
                self._owner = None


class ChangeSignal:
    """Tells after each commit what it changed. Listeners are called in the loop and must be quick."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` called from now on; the answer ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def publish(self, changed: Changed) -> None:
        touched = {table: ids for table, ids in changed.items() if ids}
        if touched:
            for listener in tuple(self._listeners):
                listener(touched)
