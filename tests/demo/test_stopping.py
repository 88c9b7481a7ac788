"""Stopping the demo by a signal: its folder is removed and the code after the block runs."""

import asyncio
import os
import signal
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from rich.console import Console

from demo.terminal import cancel_on_signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_block_and_removes_its_folder(number: signal.Signals) -> None:
    console, folder = Console(file=StringIO()), Path()
    async with asyncio.timeout(10):
        with cancel_on_signals(console), TemporaryDirectory() as name:
            folder = Path(name)
            os.kill(os.getpid(), number)
            await asyncio.Event().wait()
        await asyncio.sleep(0)  # raises if the task is still cancelled
    assert not folder.exists()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
