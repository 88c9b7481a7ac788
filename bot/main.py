"""The process: runs Yardmaster until it receives a signal."""

import asyncio
import signal
import sys
from collections.abc import Callable

import click

from alerts.store import StoreError
from bot.delivery.notifier_protocol import SendError
from bot.http.server import ListenError
from bot.jobs.garbage_collection import collect_in_small_parts
from bot.settings.schema import Settings
from bot.settings.secrets import SecretError
from bot.wiring import RulesRefusedError, build
from collectors.facts.results import SourceError


async def run_for_ever(
    settings: Settings, *, listen_dropped: Callable[[Callable[[], None]], None] = lambda _count: None
) -> None:
    """Run until SIGTERM or SIGINT. If the start fails, print one line and exit with 1.

    `listen_dropped` is given what counts a line of the log that was dropped.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        async with build(settings) as yard:
            listen_dropped(yard.metrics.log_lines_dropped.inc)
            collect_in_small_parts()
            await yard.server.start()  # here, because an error in the tasks below is not a failed start
            async with asyncio.TaskGroup() as group:
                running = group.create_task(yard.run(), name="yardmaster")
                waiting = group.create_task(stop.wait(), name="signals")
                await asyncio.wait((running, waiting), return_when=asyncio.FIRST_COMPLETED)
                running.cancel()
                waiting.cancel()
    except (
        RulesRefusedError,
        SourceError,
        SendError,
        SecretError,
        StoreError,
        ListenError,
        ValueError,
    ) as error:
        click.echo(f"Yardmaster cannot start: {error}", err=True)
        sys.exit(1)
