"""The demo in a terminal: stop in order on a signal, and keep the log out of the way."""

import asyncio
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog
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


def log_to(file: Path) -> None:
    """Send everything that is logged in this process, by us and by libraries, to the end of a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=file,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        level=logging.INFO,
        force=True,
    )
    for chatty in ("aiohttp.access", "alembic", "apscheduler", "elastic_transport"):  # a line for each call
        logging.getLogger(chatty).setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
