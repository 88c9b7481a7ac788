"""Signals of changes: to tests through `until`, to pages through a stream."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

Found = TypeVar("Found")


class ChangeSignal:
    """Published at every change."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()
        self._streams: set[asyncio.Queue[dict[str, Any] | None]] = set()

    def publish(self, change: dict[str, Any] | None = None) -> None:
        """Wake the waiters, and send the change to the pages."""
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self._waiting.clear()
        if change is None:
            return
        for stream in list(self._streams):
            try:
                stream.put_nowait(change)
            except asyncio.QueueFull:
                # A page that reads too slowly is dropped; it reconnects and reloads everything.
                self._streams.discard(stream)
                while not stream.empty():
                    stream.get_nowait()
                stream.put_nowait(None)

    async def until(self, predicate: Callable[[], Found | None], timeout: float) -> Found:
        """Wait until `predicate()` is true, checking after every change and never in between.

        Raise TimeoutError when it is not true within `timeout` seconds.
        """
        async with asyncio.timeout(timeout):
            while True:
                future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._waiting.add(future)
                try:
                    if found := predicate():
                        return found
                    await future
                finally:
                    self._waiting.discard(future)

    @asynccontextmanager
    async def stream(self, size: int = 2000) -> AsyncIterator[asyncio.Queue[dict[str, Any] | None]]:
        """Yield a queue of the changes from now on; None in it means that some were missed."""
        queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(size)
        self._streams.add(queue)
        try:
            yield queue
        finally:
            self._streams.discard(queue)

    def close(self) -> None:
        """End every stream."""
        for stream in list(self._streams):
            while not stream.empty():
                stream.get_nowait()
            stream.put_nowait(None)
        self._streams.clear()
