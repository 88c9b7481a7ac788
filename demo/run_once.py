"""`yardmaster demo --once`: run each scenario without a browser and print a table of results."""

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
from demo.terminal import cancel_on_signals, log_to

STOPPED = 130  # the exit status of a process ended by SIGINT, as shells report it


async def run_once(scenarios: Sequence[Scenario], file: Path | None, log: Path | None) -> int:
    """Run the scenarios and return the exit status: 0 when all pass, 1 when one fails, 130 when stopped by a signal."""
    console, results = Console(), list[Result]()
    start = monotonic()
    begins = {fault.fault: fault.parameters for one in scenarios for fault in one.initial_faults}
    with cancel_on_signals(console), TemporaryDirectory(prefix="yardmaster-demo-") as folder:
        log_to(log or Path(folder) / "yardmaster.log")
        async with start_environment(
            EnvironmentOptions(folder=Path(folder), initial_faults=begins)
        ) as environment:
            ready = monotonic() - start
            console.print(
                f"Ready after {ready:.1f} s: 18 nodes, 128 GPUs, 6 trainings, two hours of history."
            )
            runner = ScenarioRunner(environment)
            for scenario in scenarios:
                console.print(f"[bold]{scenario.name}[/]: {scenario.title}")
                results.append(await runner.run(scenario))
                if results[-1].failures:
                    console.print("  " + "; ".join(results[-1].failures), style="red", markup=False)
    if len(results) < len(scenarios):
        return STOPPED
    table = Table(
        "scenario",
        "alert",
        "card",
        "done",
        "resolved",
        "result",
        title="Seconds from the start of each scenario",
    )
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
    """Return the result as a row of the table."""

    def seconds(value: float | None) -> str:
        return "" if value is None else f"{value:.1f} s"

    state = "ok" if result.is_good else "; ".join(result.failures)
    return (result.name, *map(seconds, (result.alerted, result.posted, result.done, result.resolved)), state)
