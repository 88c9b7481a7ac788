"""`yardmaster demo`: run scenarios in a loop and let people act on them."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from demo.environment import Environment, EnvironmentOptions, start_environment
from demo.scenario import Scenario
from demo.terminal import cancel_on_signals, log_to

START_AFTER = timedelta(seconds=3)
FAULT_LASTS = timedelta(seconds=90)  # then the fault ends by itself
PAUSE = timedelta(seconds=25)


async def run_forever(scenarios: Sequence[Scenario], port: int, log: Path | None) -> None:
    """Start the demo, print its address, and run scenarios until SIGINT or SIGTERM; a second signal ends it at once."""
    console = Console(highlight=False)
    console.print("Starting a simulated cluster, Prometheus and a Slack look-alike…")
    begins = {fault.fault: fault.parameters for one in scenarios for fault in one.initial_faults}
    with cancel_on_signals(console), TemporaryDirectory(prefix="yardmaster-demo-") as folder:
        file = log or Path(folder) / "yardmaster.log"
        log_to(file)
        async with start_environment(
            EnvironmentOptions(folder=Path(folder), slack_port=port, initial_faults=begins)
        ) as environment:
            _print_address(environment, file, console)
            await autoplay(environment, scenarios, console)


def _print_address(environment: Environment, log: Path, console: Console) -> None:
    console.print()
    console.print(f"  Open  [bold]{environment.slack.page}?as=dana[/]", soft_wrap=True)
    console.print("        You are dana, on call. Type [bold]/yard help[/]. Switch users at the top right.")
    console.print(
        f"        Prometheus: {environment.prometheus.url}   Log: {log}", style="dim", soft_wrap=True
    )
    console.print("        Press Ctrl-C to stop.", style="dim")
    console.print()


async def autoplay(environment: Environment, scenarios: Sequence[Scenario], console: Console) -> None:
    """Loop for ever over the scenarios: start the fault, leave time to act, end the fault, pause. Print each step."""
    for scenario in scenarios:
        for act in scenario.commands:
            console.print(f"[dim]Try this as {act.user} in {act.channel}:[/] {act.type}", soft_wrap=True)
    with_faults = [scenario for scenario in scenarios if scenario.faults]
    if not with_faults:
        await asyncio.Event().wait()
    await asyncio.sleep(START_AFTER.total_seconds())
    for scenario in cycle(with_faults):
        console.print(f"[bold]{scenario.title}.[/] {scenario.story}")
        console.print(f"  [dim]Watch {', '.join(scenario.card.channels)} for a card.[/]")
        for fault in scenario.faults:
            environment.start_fault(fault)
        await asyncio.sleep(FAULT_LASTS.total_seconds())
        for name in scenario.end_faults:
            environment.end_fault(name)
        console.print("  [dim]The fault has ended.[/]")
        await asyncio.sleep(PAUSE.total_seconds())
