"""`yardmaster demo --once` as a process: it prints a table, and exits with 0 if all passed."""

import subprocess
import sys
from pathlib import Path


def test_the_command_runs_a_scenario_once_and_prints_a_table() -> None:
    argv = (Path(sys.executable).with_name("yardmaster"), "demo", "--once", "--scenario", "training-launch")
    run = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)

    assert run.returncode == 0, run.stdout + run.stderr
    assert "training-launch" in run.stdout
    assert "Seconds from the start of each scenario" in run.stdout
