"""Signals and logging of the demo in a terminal."""

import asyncio
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog
from rich.console import Console

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def cancel_on_signals(console: Console) -> Iterator[None]:
    """Within the block, the first SIGINT or SIGTERM cancels the task cleanly; a second one ends the process at once."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def restore_handlers() -> None:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)

    def stop() -> None:
        restore_handlers()
        console.print("\nStopping the demo…")
        task.cancel()

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        yield
    except asyncio.CancelledError:
        task.uncancel()
    finally:
        restore_handlers()


def log_to(file: Path) -> None:
    """Append everything that this process logs, libraries included, to a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=file,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        level=logging.INFO,
        force=True,
    )
    for chatty in ("aiohttp.access", "alembic", "apscheduler", "elastic_transport"):  # they log every call
        logging.getLogger(chatty).setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
