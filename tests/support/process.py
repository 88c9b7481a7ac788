"""The real process `yardmaster run` beside a stage, to be stopped, killed and deprived."""

import asyncio
import os
import socket
import sys
from pathlib import Path

from tests.support.light_stage import Light

STARTS = 240.0  # seconds; a few on a quiet machine, and one that ends while it starts is not waited for


class Process:
    """`yardmaster run` in a separate process. `log` has the lines of its log so far, where a file was given for it."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path | None = None) -> None:
        self._process = process
        self._log = log

    @classmethod
    async def begin(
        cls,
        stage: Light,
        *,
        descriptors: int | None = None,
        log: Path | None = None,
        stderr: int = asyncio.subprocess.DEVNULL,
    ) -> "Process":
        """Start it, and return once it is connected to Slack.

        `descriptors`: how many files it may have open. `log`: the file that its log goes to; else it goes to `stderr`.
        """
        before = len(stage.slack.sockets.connections)
        first = ""
        if log is not None:
            stderr = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if descriptors is not None:
            first = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({descriptors},) * 2); "
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            f"{first}from bot.cli import main; main()",
            "run",
            "--config",
            str(stage.write_settings()),
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONWARNINGS": "default"},
            stdout=asyncio.subprocess.DEVNULL,
            stderr=stderr,
        )
        if log is not None:
            os.close(stderr)
        try:
            async with asyncio.TaskGroup() as group:
                watch = group.create_task(_ends(process))
                await stage.slack.until(lambda: len(stage.slack.sockets.connections) > before, STARTS)
                watch.cancel()
        except BaseException:
            if process.returncode is None:
                process.kill()
                await process.wait()
            raise
        return cls(process, log)

    @property
    def log(self) -> list[str]:
        return self._log.read_text("utf-8").splitlines() if self._log is not None else []

    @property
    def pid(self) -> int:
        return self._process.pid

    async def end(self, how: int) -> int:
        if self._process.returncode is None:
            self._process.send_signal(how)
        async with asyncio.timeout(30):
            return await self._process.wait()


async def _ends(process: asyncio.subprocess.Process) -> None:
    """Raise once the process has ended."""
    raise RuntimeError(f"yardmaster ended with {await process.wait()} while it started: its log says why")


def listens_at_a_free_port(stage: Light) -> str:
    """Give a process an address, which only it could tell otherwise; return its base URL."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    stage.settings["http"]["listen"] = f"127.0.0.1:{port}"
    return f"http://127.0.0.1:{port}"
