"""Charts as pictures, drawn by a child process: matplotlib is slow, large, and optional."""

import asyncio
import os
import sys
from contextlib import suppress
from datetime import timedelta
from importlib.util import find_spec

import msgspec

from bot.charts.chart_child import REPLY_SIZE
from bot.charts.line_chart import Chart
from collectors.facts.sentences import english, sentence

DEADLINE = timedelta(seconds=30)  # of one chart, the start of the child included
MOST_BYTES = 1 << 20
_CHILD = (sys.executable, "-P", "-m", "bot.charts.chart_child")
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}


class DrawingError(Exception):
    """A chart was not drawn. The text says why."""


def can_render() -> bool:
    """Return whether matplotlib, the extra `charts`, is installed."""
    return find_spec("matplotlib") is not None


class ChartRenderer:
    """Draws charts one after another. The child starts with the first, and is killed with one that fails."""

    def __init__(self, *, deadline: timedelta = DEADLINE, child: tuple[str, ...] = _CHILD) -> None:
        self._deadline = deadline.total_seconds()
        self._command = child
        self._child: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()

    async def render(self, chart: Chart) -> bytes:
        """Return the chart as PNG. Raises DrawingError."""
        async with self._lock:
            try:
                async with asyncio.timeout(self._deadline):
                    return await self._exchange(msgspec.json.encode(chart, enc_hook=english) + b"\n")
            except TimeoutError:
                await self._kill()
                raise DrawingError(
                    sentence("it was not drawn within {seconds:.0f} s", seconds=self._deadline)
                ) from None
            except BaseException:
                await self._kill()
                raise

    async def close(self) -> None:
        """End the child, which needs memory while it waits."""
        async with self._lock:
            await self._kill()

    async def _exchange(self, request: bytes) -> bytes:
        child = self._child or await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, **_ONE_THREAD},
        )
        self._child = child
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(request)
            await child.stdin.drain()
            size = int.from_bytes(await child.stdout.readexactly(REPLY_SIZE), "big")
            if size > MOST_BYTES:
                raise DrawingError(sentence("the picture has {size} bytes", size=size))
            return await child.stdout.readexactly(size)
        except (OSError, EOFError) as error:
            raise DrawingError(sentence("the process that draws charts ended unexpectedly")) from error

    async def _kill(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        with suppress(ProcessLookupError):
            child.kill()
        await child.communicate()  # until its pipes are closed
