"""py-spy itself, by the script that is run in containers, on processes of this machine that truly hang."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.execution.tools.py_spy import read_stacks, threads_in
from commands.execution.tools.tool_list import TOOLS

HANGS = {
    "all_reduce": """
import threading
def all_reduce():
    lock = threading.Lock(); lock.acquire(); lock.acquire()
def train_step():
    all_reduce()
train_step()
""",
    "loader": """
import queue
def _next_data():
    queue.Queue().get()
_next_data()
""",
}
FOLDER = Path(sys.executable).parent


@pytest.fixture
def hung(tmp_path: Path) -> Iterator[dict[str, int]]:
    """Two processes that hang, by their names, once they do."""
    found = {}
    processes = []
    (tmp_path / "torch" / "distributed").mkdir(parents=True)
    for name, source in HANGS.items():
        path = tmp_path / ("torch/distributed/c10d.py" if name == "all_reduce" else "dataloader.py")
        path.write_text(source)
        process = subprocess.Popen([sys.executable, str(path), "--token=hunter2hunter2"])
        processes.append(process)
        found[name] = process.pid
    yield found
    for process in processes:
        process.kill()
        process.wait()


def dump(pid: int, *, until: str) -> str:
    """Return the dump of a process, once it is where it hangs."""
    end = time.monotonic() + 30
    while True:
        done = subprocess.run(
            [FOLDER / "py-spy", "dump", "--nonblocking", "--pid", str(pid)],
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        if until in said or time.monotonic() > end:
            return said
        time.sleep(0.1)


def test_two_processes_that_hang_are_distinguished(hung: dict[str, int]) -> None:
    first = read_stacks(dump(hung["all_reduce"], until="all_reduce"), 0)
    second = read_stacks(dump(hung["loader"], until="_next_data"), 0)
    assert first.where == "wait in all_reduce"
    assert second.where == "in the data loader"
    assert any("train_step" in line for line in first.lines)
    assert not any("hunter2hunter2" in line for line in (*first.lines, *second.lines))


async def test_the_script_of_the_list_finds_the_python_processes_by_itself(hung: dict[str, int]) -> None:
    dump(hung["all_reduce"], until="all_reduce")
    dump(hung["loader"], until="_next_data")
    process = await asyncio.create_subprocess_exec(
        *TOOLS["py-spy"].command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "PATH": f"{FOLDER}:{os.environ['PATH']}"},
    )
    said, _ = await asyncio.wait_for(process.communicate(), 240)
    threads = threads_in(said.decode())
    assert process.returncode == 0
    assert len({one.pid for one in threads}) >= 1
    assert any(one.frames for one in threads)


def test_a_process_that_has_ended_is_an_error_in_words() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait()
    result = read_stacks(dump(process.pid, until="Error"), 1)
    assert result.error
    assert not result.where
