"""`python -m tests.times`: `make test`, with what it takes recorded in `docs/test-times.json`.

Run it on a machine that does nothing else, with the real parts in the cache.
"""

import json
import os
import platform
import resource
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import click

from collectors.facts.clock import SystemClock
from tests.distribution import scope_of
from tests.times.machine import BusyMachine
from tests.times.yardstick import seconds_of_work

ROOT = Path(__file__).parents[2]
RESULT = ROOT / "docs" / "test-times.json"
SLOWEST = 20
SHOWN = (
    "yardstick_seconds",
    "minutes",
    "cpu_minutes",
    "share_of_time_without_work",
    "idle_share_of_the_cores",
    "tests",
    "slowest",
)
LONG = 1.0  # seconds: the distribution does not need shorter files


@click.command()
@click.argument("command", nargs=-1)
@click.option("--record", is_flag=True, help=f"write {RESULT.relative_to(ROOT)}")
def main(command: tuple[str, ...], record: bool) -> None:
    """Run `make test`, or what follows `--`, and print what it takes."""
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows"
        yardstick = seconds_of_work()
        machine = BusyMachine()
        options = addopts(os.environ.get("PYTEST_ADDOPTS", ""), rows)
        run = subprocess.Popen(
            command or ("make", "test"), cwd=ROOT, env={**os.environ, "PYTEST_ADDOPTS": options}
        )
        while run.poll() is None:
            machine.look()
        if not rows.exists():
            raise click.ClickException("no test has run: what failed before is printed above")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = {
            "at": f"{SystemClock().now():%Y-%m-%dT%H:%M:%SZ}",
            "cores": os.cpu_count(),
            "yardstick_seconds": round(yardstick, 2),
            "python": platform.python_version(),
            "passed": run.returncode == 0,
            "minutes": round(machine.seconds / 60, 1),
            "cpu_minutes": round((used.ru_utime + used.ru_stime) / 60, 1),
            "share_of_time_without_work": round(machine.share_without_work, 3),
            "idle_share_of_the_cores": round(machine.idle_share, 3),
            **summary([json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]),
        }
    if record:
        before = json.loads(RESULT.read_text(encoding="utf-8"))["before"]
        RESULT.write_text(json.dumps({"before": before, **result}, indent=2) + "\n", encoding="utf-8")
    click.echo(json.dumps({name: result[name] for name in SHOWN}, indent=2), err=True)
    sys.exit(run.returncode)


def addopts(before: str, rows: Path) -> str:
    """Return pytest's options, with its root: the workers else take a folder above both the tree and the rows."""
    root = f"-c {shlex.quote(str(ROOT / 'pyproject.toml'))} --rootdir {shlex.quote(str(ROOT))}"
    return f"{before} {root} -p tests.times.plugin --times {shlex.quote(str(rows))}"


def summary(rows: list[dict[str, Any]]) -> dict[str, object]:
    """Return the figures of the rows that the plugin wrote: by test, folder, file or group, and worker."""
    tests: dict[str, dict[str, float]] = defaultdict(lambda: {"seconds": 0.0, "cpu": 0.0})
    folders: dict[str, dict[str, float]] = defaultdict(lambda: {"seconds": 0.0, "cpu": 0.0})
    units: dict[str, dict[str, float]] = defaultdict(lambda: {"seconds": 0.0, "cpu": 0.0})  # files and groups
    workers: dict[str, float] = {}
    for row in rows:
        file = row["test"].partition("::")[0]
        folder = "/".join(Path(file).parts[:2])
        for one in (tests[row["test"]], folders[folder], units[scope_of(file)]):
            one["seconds"] += row["seconds"]
            one["cpu"] += row["cpu"]
        workers[row["worker"]] = row["at"]
    return {
        "tests": len(tests),
        "workers_done_after_seconds": workers,
        "slowest": _longest(tests)[:SLOWEST],
        "folders": _longest(folders),
        "files": _longest({name: took for name, took in units.items() if took["seconds"] >= LONG}),
    }


def _longest(found: dict[str, dict[str, float]]) -> list[dict[str, object]]:
    by_time = sorted(found.items(), key=lambda item: -item[1]["seconds"])
    return [{"of": name, **{key: round(value, 1) for key, value in took.items()}} for name, took in by_time]


if __name__ == "__main__":
    main()
