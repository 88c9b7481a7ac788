"""`python -m tests.soak`: long test runs, with a new seed each time, and their result as JSON.

They are the property tests with twenty times the examples, and the tests marked `soak` with more seeds.
"""

import json
import platform
import sys
import time
from pathlib import Path
from random import SystemRandom
from typing import Any

import click
import pytest

from collectors.facts.clock import SystemClock

ROOT = Path(__file__).parent.parent
RESULT = ROOT / "docs" / "soak.json"


class Tally:
    """A pytest plugin that counts results, and keeps what tests recorded."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed: list[str] = []
        self.recorded: dict[str, dict[str, object]] = {}  # by test: what it recorded with `record_property`

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed += 1
            if report.user_properties:
                self.recorded[report.nodeid] = dict(report.user_properties)


@click.command()
@click.argument("tests", nargs=-1)
@click.option("--seed", type=int, help="the seed of an earlier run, to repeat it")
@click.option("--record", is_flag=True, help=f"write {RESULT.relative_to(ROOT)}")
def main(tests: tuple[str, ...], seed: int | None, record: bool) -> None:
    """Run the soak tests; with TESTS only these, whose results then replace those of the recorded run."""
    seed = SystemRandom().randrange(1 << 32) if seed is None else seed
    click.echo(f"seed {seed}: to repeat this run, `python -m tests.soak --seed {seed}`")
    tally, started = Tally(), time.monotonic()
    exit_code = pytest.main(
        [
            *(tests or (str(ROOT / "tests"), str(ROOT / "go_templates" / "tests"))),
            *("-q", "-m", "hypothesis or soak"),
            *("--hypothesis-profile=soak", f"--hypothesis-seed={seed}"),
        ],
        plugins=[tally],
    )
    if record:
        result = {
            "at": f"{SystemClock().now():%Y-%m-%dT%H:%M:%SZ}",
            "seed": seed,
            "passed": tally.passed,
            "failed": tally.failed,
            "recorded": tally.recorded,
            "seconds": round(time.monotonic() - started),
            "python": platform.python_version(),
        }
        if tests:
            result = with_again(json.loads(RESULT.read_text(encoding="utf-8")), result, tests)
        RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    sys.exit(exit_code)


def with_again(whole: dict[str, Any], again: dict[str, Any], tests: tuple[str, ...]) -> dict[str, Any]:
    """Return the result of the whole run with tests that were run again, and when that was.

    What has failed now counts as failed, and what it recorded before is gone.
    """
    # Those of a file, a class or a table.
    parts = tuple(f"{one}{begins}" for one in tests for begins in ("::", "["))
    before = [one for one in whole["failed"] if one not in again["failed"]]
    passed_again = [one for one in before if one in tests or one.startswith(parts)]
    recorded = {test: one for test, one in whole["recorded"].items() if test not in again["failed"]}
    return {
        **whole,
        "passed": whole["passed"] + len(passed_again),
        "failed": [*(one for one in before if one not in passed_again), *again["failed"]],
        "recorded": {**recorded, **again["recorded"]},
        "again": [*whole.get("again", []), {"at": again["at"], "seed": again["seed"], "tests": list(tests)}],
    }


if __name__ == "__main__":
    main()
