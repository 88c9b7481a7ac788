"""Child processes: start, wait until ready, stop for certain.

The core is blocking and needs no event loop, so that test fixtures of any scope can use it; `running` is for
asyncio. A child has its own session (Ctrl-C in the terminal does not reach it), writes to a log file, and is
killed by the kernel when this process dies.
"""

import asyncio
import contextlib
import http.client
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Self

_GUARD = Path(__file__).with_name("guard.py")
_PAUSE = 0.05  # seconds between two readiness checks
_AFTER_KILL = 30.0  # seconds; a killed process that still exists then hangs in the kernel
_PORTS = range(20000, 32000)  # below Linux' range for outgoing connections


class PartError(RuntimeError):
    """An external program is missing, did not start, or rejected its input. The text says what to do."""


class MissingPartError(PartError):
    """The program is not on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What to run, as whom, and where it writes."""

    name: str  # for people: "Prometheus"
    argv: tuple[str, ...]  # the first is an absolute path
    log: Path  # stdout and stderr are appended here
    environment: Mapping[str, str] = field(default_factory=dict)  # added to this process's
    folder: Path | None = None  # working folder; None: this process's
    user: str | None = None  # the user to run as, if not the current one; needs root


class Child:
    """One run of a program. Call `start` once; `stop` may be called repeatedly."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = threading.Event()

    @property
    def pid(self) -> int:
        """The process id. Raises PartError before `start`."""
        return self._started().pid

    @property
    def is_running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the process without waiting until it is ready.

        Call it from a thread that outlives the child (the main thread): the kernel kills the child when the
        thread that started it ends.
        """
        program = self.program
        program.log.parent.mkdir(parents=True, exist_ok=True)
        guard = (sys.executable, "-I", "-S", str(_GUARD), str(os.getpid()), program.user or "")
        with program.log.open("ab") as log:
            self._process = subprocess.Popen(
                (*guard, *program.argv),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=program.folder,
                env={**os.environ, **program.environment},
                start_new_session=True,
            )

    def wait_until_ready(self, is_ready: Callable[[], bool], *, limit: timedelta) -> None:
        """Return once `is_ready()` holds. Raises PartError, with the log's end, on exit or at `limit`."""
        end = time.monotonic() + limit.total_seconds()
        while not is_ready():
            if not self.is_running:
                raise PartError(
                    self._error_text(f"ended with status {self._started().returncode} while starting")
                )
            if time.monotonic() > end:
                raise PartError(self._error_text(f"was not ready within {limit.total_seconds():.0f} s"))
            if self._stopped.wait(_PAUSE):
                raise PartError(f"{self.program.name} was stopped while starting")

    def stop(self, *, grace: timedelta = timedelta(seconds=10)) -> None:
        """Send SIGTERM, and SIGKILL to the whole process group after `grace`. A grace of 0 kills at once."""
        self._stopped.set()
        process = self._process
        if process is None or process.poll() is not None:
            return
        if grace > timedelta():
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(grace.total_seconds())
                return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(_AFTER_KILL)

    def last_log_lines(self, count: int = 20) -> str:
        """The end of the log."""
        try:
            with self.program.log.open(encoding="utf-8", errors="replace") as lines:
                return "".join(deque(lines, count)).rstrip()
        except FileNotFoundError:
            return ""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise PartError(f"{self.program.name} was not started")
        return self._process

    def _error_text(self, what: str) -> str:
        return f"{self.program.name} {what}. The end of {self.program.log}:\n{self.last_log_lines()}"


@contextlib.asynccontextmanager
async def running(
    program: Program,
    is_ready: Callable[[], bool],
    *,
    limit: timedelta = timedelta(seconds=30),
    grace: timedelta = timedelta(seconds=10),
) -> AsyncIterator[Child]:
    """Run a program for the duration of an `async with` block, which is entered when `is_ready()` holds.

    `is_ready` may block for a moment: it is called in a thread.
    """
    child = Child(program)
    child.start()
    try:
        await asyncio.to_thread(child.wait_until_ready, is_ready, limit=limit)
        yield child
    finally:
        await asyncio.shield(asyncio.to_thread(child.stop, grace=grace))


def find_program(*names: str, get_it: str) -> Path:
    """Return the first of these programs that is on the PATH. Raises MissingPartError, which ends with `get_it`."""
    for name in names:
        if found := shutil.which(name):
            return Path(found)
    raise MissingPartError(f"no {' or '.join(names)} on the PATH; {get_it}")


def free_port() -> int:
    """Return a free TCP port of 127.0.0.1 that no outgoing connection will take."""
    for port in _candidates():
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise PartError(f"no free port on 127.0.0.1 between {_PORTS.start} and {_PORTS.stop}")


def answers(url: str, *, ca_file: Path | None = None, timeout: timedelta = timedelta(seconds=2)) -> bool:
    """Whether a GET of `url` returns a 2xx. Never raises for a server that is down or not ready.

    `ca_file` is the certificate to trust for https; while it does not exist, the result is False.
    """
    try:
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
        if ca_file is not None:
            trusted = ssl.create_default_context(cafile=str(ca_file))
            handlers.append(urllib.request.HTTPSHandler(context=trusted))
        with urllib.request.build_opener(*handlers).open(url, timeout=timeout.total_seconds()) as reply:
            return bool(reply.status < 300)
    except urllib.error.HTTPError as refusal:
        refusal.close()
        return False
    except (OSError, http.client.HTTPException):
        return False


def _candidates() -> Iterator[int]:
    """Return ports in random order, so that two concurrent processes rarely try the same one."""
    yield from random.sample(_PORTS, 200)
