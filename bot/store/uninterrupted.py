"""Database calls that a cancellation does not interrupt."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

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
