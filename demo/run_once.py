"""This file plays each scenario once, without a browser, and prints a table: `yardmaster demo --once`."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from rich.console import Console
from rich.table import Table

from demo.environment import EnvironmentOptions, start_environment
from demo.runner import Result, ScenarioRunner
from demo.scenario import Scenario
from demo.terminal import ended_by_signals, log_to

STOPPED = 130  # the exit status of what SIGINT ended, as shells have it


async def run_once(scenarios: Sequence[Scenario], file: Path | None, log: Path | None) -> int:
    """The exit status: 0 when every scenario went as it says, 130 when it was stopped. Results go into `file`, too."""
    console, results = Console(), list[Result]()
    began = monotonic()
    begins = {fault.fault: fault.parameters for one in scenarios for fault in one.begins}
    with ended_by_signals(console), TemporaryDirectory(prefix="yardmaster-demo-") as folder:
        log_to(log or Path(folder) / "yardmaster.log")
        async with start_environment(
            EnvironmentOptions(folder=Path(folder), begins_with=begins)
        ) as environment:
            ready = monotonic() - began
            console.print(
                f"The stage is set after {ready:.1f} s: 18 nodes, 128 GPUs, 6 trainings, two hours of past."
            )
            runner = ScenarioRunner(environment)
            for scenario in scenarios:
                console.print(f"[bold]{scenario.name}[/]: {scenario.title}")
                results.append(await runner.run(scenario))
                if results[-1].failures:
                    console.print("  " + "; ".join(results[-1].failures), style="red", markup=False)
    if len(results) < len(scenarios):
        return STOPPED
    table = Table("scenario", "seen after", "told after", "done", "recovered", "verdict")
    for result in results:
        table.add_row(*row_of(result))
    console.print(table)
    if file is not None:
        _write(file, ready, results)
    return 0 if all(result.is_good for result in results) else 1


def _write(file: Path, ready: float, results: Sequence[Result]) -> None:
    rows = [asdict(one) for one in results]
    file.write_text(json.dumps({"ready": ready, "scenarios": rows}, indent=2), encoding="utf-8")


def row_of(result: Result) -> tuple[str, ...]:
    """The result as a row of the table."""

    def seconds(value: float | None) -> str:
        return "" if value is None else f"{value:.1f} s"

    state = "ok" if result.is_good else "; ".join(result.failures)
    return (result.name, *map(seconds, (result.seen, result.posted, result.done, result.recovered)), state)
