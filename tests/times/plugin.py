"""A plugin of pytest that records what each test takes: seconds, and seconds of CPU of all its processes.

`-p tests.times.plugin --times FILE` writes one JSON object a line, for each phase (setup, call, teardown) of each test.
With `-n`, each worker measures its own tests, and the process that hands them out writes the file.
"""

import json
import os
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TextIO

import pytest

_TICKS = os.sysconf("SC_CLK_TCK")
LOOKS_EVERY = 1.0  # seconds
_seen_at = float("-inf")
_seen: Sequence[int] = ()
_STARTED: dict[str, tuple[float, float]] = {}  # by phase: of the test that this process runs


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--times", type=Path, metavar="FILE", help="write what each test takes to FILE")


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--times")
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Writer(file.open("w", buffering=1, encoding="utf-8")), "times-writer")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup() -> Generator[None, None, None]:
    _STARTED["setup"] = time.monotonic(), cpu_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    _STARTED["call"] = time.monotonic(), cpu_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown() -> Generator[None, None, None]:
    _STARTED["teardown"] = time.monotonic(), cpu_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    began, cpu = _STARTED[call.when]
    taken = {"wall": time.monotonic() - began, "cpu": cpu_seconds() - cpu}
    report.__dict__.update(taken)  # xdist sends along what a report has
    return report


class Writer:
    """It writes a line for each phase."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._began = time.monotonic()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        row = {
            "test": report.nodeid,
            "phase": report.when,
            "outcome": report.outcome,
            "seconds": round(report.__dict__["wall"], 3),
            "cpu": round(report.__dict__["cpu"], 3),
            "worker": getattr(report, "worker_id", "main"),
            "at": round(time.monotonic() - self._began, 1),
        }
        self._file.write(json.dumps(row) + "\n")

    def pytest_unconfigure(self) -> None:
        self._file.close()


def cpu_seconds() -> float:
    """Return the seconds of CPU that this process and its descendants used until now."""
    own = os.times()
    return sum(own[:4]) + sum(map(_cpu_of, _descendants()))


def _descendants() -> Sequence[int]:
    """Return the processes that this one started, directly or not, as of a second ago at most.

    A server has a hundred threads, and each may have children: to look at them around each test takes longer than many
    a test. What a process uses that nobody has seen yet counts for a later test, or at its end for its parent.
    """
    global _seen_at, _seen
    now = time.monotonic()
    if now - _seen_at >= LOOKS_EVERY:
        _seen_at, _seen = now, [*_below(os.getpid())]
    return _seen


def _below(pid: int) -> Iterator[int]:
    for child in _children(pid):
        yield child
        yield from _below(child)


def _cpu_of(pid: int) -> float:
    """Return the seconds of CPU of a process and of its children that ended; 0 if it has ended itself."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return 0
    numbers = stat.rpartition(")")[2].split()[11:15]  # utime, stime, and those of the children that ended
    return sum(map(int, numbers)) / _TICKS


def _children(pid: int) -> Iterator[int]:
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            children = Path(f"/proc/{pid}/task/{thread}/children").read_text(encoding="utf-8")
            yield from map(int, children.split())
    except OSError:
        return
