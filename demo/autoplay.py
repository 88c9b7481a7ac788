"""This file entertains: it plays scenarios one after the other, and leaves it to people to act."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from demo.environment import Environment, EnvironmentOptions, start_environment
from demo.scenario import Scenario
from demo.terminal import ended_by_signals, log_to

FIRST_AFTER = timedelta(seconds=3)
LASTS = timedelta(seconds=90)  # a fault that nobody mends; hardware is mended by the facility then
BETWEEN = timedelta(seconds=25)


async def run_forever(scenarios: Sequence[Scenario], port: int, log: Path | None) -> None:
    """Set the stage, say where it is, and play until SIGINT or SIGTERM; a second one does not wait for the end."""
    console = Console(highlight=False)
    console.print("Setting the stage: a cluster with a past, Prometheus, Slack. A few seconds…")
    begins = {fault.fault: fault.parameters for one in scenarios for fault in one.begins}
    with ended_by_signals(console), TemporaryDirectory(prefix="yardmaster-demo-") as folder:
        file = log or Path(folder) / "yardmaster.log"
        log_to(file)
        async with start_environment(
            EnvironmentOptions(folder=Path(folder), slack_port=port, begins_with=begins)
        ) as environment:
            _greet(environment, file, console)
            await autoplay(environment, scenarios, console)


def _greet(environment: Environment, log: Path, console: Console) -> None:
    console.print()
    console.print(f"  Open  [bold]{environment.slack.page}?as=dana[/]", soft_wrap=True)
    console.print("        You are dana, on call. Type [bold]/yard help[/]; switch people at the top right.")
    console.print(
        f"        Prometheus: {environment.prometheus.url}   log: {log}", style="dim", soft_wrap=True
    )
    console.print("        Ctrl-C ends it.", style="dim")
    console.print()


async def autoplay(environment: Environment, scenarios: Sequence[Scenario], console: Console) -> None:
    """For ever: a fault, time to act, the fault mended, a rest. What the page shows is told here in a line."""
    for scenario in scenarios:
        for act in scenario.types:
            console.print(f"[dim]Try, as {act.who} in {act.where}:[/] {act.type}", soft_wrap=True)
    playable = [scenario for scenario in scenarios if scenario.happens]
    if not playable:
        await asyncio.Event().wait()
    await asyncio.sleep(FIRST_AFTER.total_seconds())
    for scenario in cycle(playable):
        console.print(f"[bold]{scenario.title}.[/] {scenario.story}")
        console.print(f"  [dim]A card comes in {', '.join(scenario.card.channels)}.[/]")
        for fault in scenario.happens:
            environment.break_it(fault)
        await asyncio.sleep(LASTS.total_seconds())
        for name in scenario.mends:
            environment.mend(name)
        console.print("  [dim]The facility has mended it.[/]")
        await asyncio.sleep(BETWEEN.total_seconds())
