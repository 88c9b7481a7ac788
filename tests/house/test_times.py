"""The record of what tests take, from a clone in a temporary folder, beside the file of its rows."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.house.conftest import ROOT
from tests.house.walks.walk import copy_of

TEST = "tests/house/test_retention.py"


def test_a_clone_in_a_temporary_folder_is_measured(tmp_path: Path) -> None:
    clone = copy_of(ROOT, tmp_path / "yardmaster")
    for other in (clone / "tests").iterdir():  # all other tests, so that they are not collected
        if other.is_dir() and other.name not in ("house", "real", "support", "times"):
            shutil.rmtree(other)
    for test in clone.rglob("test_*.py"):
        if test != clone / TEST:
            test.unlink()
    # Without a path, as `make test` runs it: the only path that a worker is given is that of the rows.
    pytest = (sys.executable, "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider")
    ran = subprocess.run(
        [sys.executable, "-m", "tests.times", "--", *pytest],
        cwd=clone,
        env={**os.environ, "PYTEST_ADDOPTS": "", "PYTHONPATH": str(clone), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    found = json.loads(ran.stderr[ran.stderr.index("{") :])
    assert {one["of"].partition("::")[0] for one in found["slowest"]} == {TEST}


def test_a_run_that_ends_before_its_tests_is_said_to_have_none() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.times", "--", "false"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (
        1,
        "Error: no test has run: what failed before is printed above\n",
    )
