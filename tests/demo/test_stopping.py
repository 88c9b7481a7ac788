"""A demo that is told to end takes its folder with it, and what follows it runs."""

import asyncio
import os
import signal
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from rich.console import Console

from demo.terminal import ended_by_signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_block_in_order(number: signal.Signals) -> None:
    console, folder = Console(file=StringIO()), Path()
    async with asyncio.timeout(10):
        with ended_by_signals(console), TemporaryDirectory() as name:
            folder = Path(name)
            os.kill(os.getpid(), number)
            await asyncio.Event().wait()
        await asyncio.sleep(0)  # the task is not cancelled any more
    assert not folder.exists()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
