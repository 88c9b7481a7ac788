"""This file ends a demo in order when it is told to, so that its servers and its folder go with it."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

_NUMBERS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def ended_by_signals(console: Console) -> Iterator[None]:
    """Within it, SIGINT and SIGTERM cancel the task, which is caught here; a second one does not wait for the end."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def let_go() -> None:
        for number in _NUMBERS:
            loop.remove_signal_handler(number)

    def stop() -> None:
        let_go()
        console.print("\nTaking the stage down…")
        task.cancel()

    for number in _NUMBERS:
        loop.add_signal_handler(number, stop)
    try:
        yield
    except asyncio.CancelledError:
        task.uncancel()
    finally:
        let_go()
