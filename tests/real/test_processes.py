"""This file proves that a child process of ours is waited for, ended and never left behind."""

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
_IS_DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + _SLEEPS
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

SOON = timedelta(seconds=30)  # bounds a wait; nothing takes that long unless it is broken


@pytest.fixture
def a_program(tmp_path: Path) -> Callable[[str], Program]:
    """Makes a program of a line of Python."""

    def program(code: str) -> Program:
        return Program(name="Helper", argv=(sys.executable, "-c", code), log=tmp_path / "helper.log")

    return program


def test_a_child_that_dies_while_starting_is_reported_with_its_last_words(
    a_program: Callable[[str], Program],
) -> None:
    with (
        Child(a_program(_DIES)) as child,
        pytest.raises(PartError, match=r"Helper ended with status 7.*\n.*no such disk"),
    ):
        child.wait_until_ready(lambda: False, limit=SOON)


def test_a_child_that_is_never_ready_is_given_up_at_the_limit(a_program: Callable[[str], Program]) -> None:
    with Child(a_program(_SLEEPS)) as child, pytest.raises(PartError, match="not ready within 0 s"):
        child.wait_until_ready(lambda: False, limit=timedelta())


def test_a_child_is_in_a_session_of_its_own(a_program: Callable[[str], Program]) -> None:
    with Child(a_program(_SLEEPS)) as child:
        assert os.getsid(child.pid) == child.pid != os.getsid(0)


def test_a_child_that_is_deaf_to_sigterm_is_killed_after_the_grace(
    a_program: Callable[[str], Program],
) -> None:
    child = Child(a_program(_IS_DEAF))
    child.start()
    child.wait_until_ready(lambda: "I am up" in child.last_log_lines(), limit=SOON)
    child.stop(grace=timedelta(milliseconds=50))
    assert not child.is_running
    assert not _is_there(child.pid)


def test_stopping_twice_is_as_good_as_once(a_program: Callable[[str], Program]) -> None:
    child = Child(a_program(_SLEEPS))
    child.stop()
    child.start()
    child.stop()
    child.stop()
    assert not child.is_running


def test_a_program_that_cannot_be_run_says_so_in_its_log(tmp_path: Path) -> None:
    program = Program(name="Ghost", argv=(str(tmp_path / "ghost"),), log=tmp_path / "ghost.log")
    with Child(program) as child, pytest.raises(PartError, match="ghost: No such file or directory"):
        child.wait_until_ready(lambda: False, limit=SOON)


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
    _wait(lambda: not _is_there(child))


async def test_a_child_ends_with_its_block(a_program: Callable[[str], Program]) -> None:
    async with running(a_program(_SLEEPS), lambda: True) as child:
        assert child.is_running
    assert not child.is_running


async def test_a_child_that_is_still_starting_ends_when_its_owner_is_cancelled(
    a_program: Callable[[str], Program],
) -> None:
    pids: list[str] = []
    code = "import os; print(os.getpid(), flush=True);" + _SLEEPS

    async def own() -> None:
        async with running(a_program(code), lambda: False, limit=SOON):
            raise AssertionError("it was never ready")

    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        owner = tasks.create_task(own())
        log = a_program(code).log
        while not pids:
            await asyncio.sleep(0.02)
            pids = log.read_text().split()[:1] if log.is_file() else []
        owner.cancel()
    _wait(lambda: not _is_there(int(pids[0])))


def test_a_program_that_is_not_here_is_named_with_the_way_to_get_it() -> None:
    with pytest.raises(MissingPartError, match="no no-such-program on the PATH; install the package x"):
        find_program("no-such-program", get_it="install the package x")


def test_nobody_answers_on_a_free_port() -> None:
    assert not answers(f"http://127.0.0.1:{free_port()}/")


def _wait(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SOON.total_seconds()
    while not holds():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def _is_there(pid: int) -> bool:
    """Whether this process exists, and is more than a record that nobody has read yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
