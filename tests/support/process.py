"""The real process `yardmaster run` beside a stage, to be stopped and killed."""

import asyncio
import os
import sys
from pathlib import Path

from tests.support.light_stage import Light


class Process:
    """`yardmaster run` in a separate process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def begin(cls, stage: Light) -> "Process":
        before = len(stage.slack.sockets.connections)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            "from bot.cli import main; main()",
            "run",
            "--config",
            str(stage.write_settings()),
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONWARNINGS": "default"},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await stage.slack.until(lambda: len(stage.slack.sockets.connections) > before, 60)
        except BaseException:
            process.kill()
            await process.wait()
            raise
        return cls(process)

    async def end(self, how: int) -> int:
        if self._process.returncode is None:
            self._process.send_signal(how)
        async with asyncio.timeout(30):
            return await self._process.wait()
