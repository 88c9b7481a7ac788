"""Child processes are awaited, stopped and never left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from demo.parts.processes import (
    Child,
    MissingPartError,
    PartError,
    Program,
    answers,
    find_program,
    free_port,
    running,
)

_SLEEPS = "import time; print('I am up', flush=True); time.sleep(600)"
_IGNORES_SIGTERM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + _SLEEPS
_DIES = "print('no such disk'); raise SystemExit(7)"
_PARENT = """\
import os, sys
from pathlib import Path
from demo.parts.processes import Child, Program
child = Child(Program(name="child", argv=(sys.executable, "-c", sys.argv[1]), log=Path(sys.argv[2])))
child.start()
print(child.pid, flush=True)
sys.stdin.read()
"""

LIMIT = timedelta(seconds=30)  # the limit of a wait; nothing takes that long unless it is broken


@pytest.fixture
def a_program(tmp_path: Path) -> Callable[[str], Program]:
    """Return a function that makes a program of Python code."""

    def program(code: str) -> Program:
        return Program(name="Helper", argv=(sys.executable, "-c", code), log=tmp_path / "helper.log")

    return program


def test_a_child_that_exits_during_its_start_is_reported_with_its_output(
    a_program: Callable[[str], Program],
) -> None:
    with (
        Child(a_program(_DIES)) as child,
        pytest.raises(PartError, match=r"Helper ended with status 7.*\n.*no such disk"),
    ):
        child.wait_until_ready(lambda: False, limit=LIMIT)


def test_waiting_for_a_child_fails_at_the_limit(a_program: Callable[[str], Program]) -> None:
    with Child(a_program(_SLEEPS)) as child, pytest.raises(PartError, match="not ready within 0 s"):
        child.wait_until_ready(lambda: False, limit=timedelta())


def test_a_child_has_its_own_session(a_program: Callable[[str], Program]) -> None:
    with Child(a_program(_SLEEPS)) as child:
        assert os.getsid(child.pid) == child.pid != os.getsid(0)


def test_a_child_that_ignores_sigterm_is_killed_after_the_grace_period(
    a_program: Callable[[str], Program],
) -> None:
    child = Child(a_program(_IGNORES_SIGTERM))
    child.start()
    child.wait_until_ready(lambda: "I am up" in child.last_log_lines(), limit=LIMIT)
    child.stop(grace=timedelta(milliseconds=50))
    assert not child.is_running
    assert not _exists(child.pid)


def test_a_child_can_be_stopped_twice(a_program: Callable[[str], Program]) -> None:
    child = Child(a_program(_SLEEPS))
    child.stop()
    child.start()
    child.stop()
    child.stop()
    assert not child.is_running


def test_a_program_that_cannot_be_run_is_reported(tmp_path: Path) -> None:
    program = Program(name="Ghost", argv=(str(tmp_path / "ghost"),), log=tmp_path / "ghost.log")
    with Child(program) as child, pytest.raises(PartError, match="ghost: No such file or directory"):
        child.wait_until_ready(lambda: False, limit=LIMIT)


def test_a_child_dies_with_its_parent(tmp_path: Path) -> None:
    log = tmp_path / "helper.log"
    with subprocess.Popen(
        (sys.executable, "-c", _PARENT, _SLEEPS, log),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": "."},
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        _wait(lambda: log.is_file() and "I am up" in log.read_text())
        parent.send_signal(signal.SIGKILL)
    _wait(lambda: not _exists(child))


async def test_a_child_stops_after_its_block(a_program: Callable[[str], Program]) -> None:
    async with running(a_program(_SLEEPS), lambda: True) as child:
        assert child.is_running
    assert not child.is_running


async def test_a_starting_child_stops_when_its_owner_is_cancelled(
    a_program: Callable[[str], Program],
) -> None:
    pids: list[str] = []
    code = "import os; print(os.getpid(), flush=True);" + _SLEEPS

    async def run_child() -> None:
        async with running(a_program(code), lambda: False, limit=LIMIT):
            raise AssertionError("it was never ready")

    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        owner = tasks.create_task(run_child())
        log = a_program(code).log
        while not pids:
            await asyncio.sleep(0.02)
            pids = log.read_text().split()[:1] if log.is_file() else []
        owner.cancel()
    _wait(lambda: not _exists(int(pids[0])))


def test_a_missing_program_is_named_with_how_to_get_it() -> None:
    with pytest.raises(MissingPartError, match="no no-such-program on the PATH; install the package x"):
        find_program("no-such-program", get_it="install the package x")


def test_a_free_port_does_not_answer() -> None:
    assert not answers(f"http://127.0.0.1:{free_port()}/")


def _wait(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT.total_seconds()
    while not holds():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def _exists(pid: int) -> bool:
    """Whether this process exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
