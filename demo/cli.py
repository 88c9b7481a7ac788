"""This file is `yardmaster demo`: the cluster in a box, played at leisure, or each scenario once and judged."""

import asyncio
import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import click
from rich.console import Console
from rich.table import Table

from demo.leisure import entertain
from demo.parts.processes import MissingPartError
from demo.playing import Player, Result, row_of
from demo.scenario import Scenario, load_scenarios
from demo.stage import Plan, set_up


@click.command()
@click.option("--scenario", "names", multiple=True, metavar="NAME", help="only this one; may be given again")
@click.option(
    "--once", is_flag=True, help="play each once, without a browser, and print a table; exit 1 if one fails"
)
@click.option(
    "--json", "file", type=click.Path(path_type=Path), help="with --once: write the results there, too"
)
@click.option("--port", default=0, help="of the Slack look-alike's page; any free one unless given")
def demo(names: tuple[str, ...], once: bool, file: Path | None, port: int) -> None:
    """Run Yardmaster on a simulated GPU cluster."""
    scenarios = _chosen(names)
    try:
        if once:
            sys.exit(asyncio.run(_play_once(scenarios, file)))
        asyncio.run(_at_leisure(scenarios, port, is_chosen=bool(names)))
    except MissingPartError as missing:
        raise click.ClickException(str(missing)) from missing


def _chosen(names: Sequence[str]) -> list[Scenario]:
    known = load_scenarios()
    for name in names:
        if name not in known:
            raise click.ClickException(f"there is no scenario `{name}`; there are {', '.join(known)}")
    return [known[name] for name in names] if names else list(known.values())


async def _play_once(scenarios: Sequence[Scenario], file: Path | None) -> int:
    console, results = Console(), list[Result]()
    began = monotonic()
    begins = {fault.fault: fault.parameters for one in scenarios for fault in one.begins}
    with TemporaryDirectory(prefix="yardmaster-demo-") as folder:
        async with set_up(Plan(folder=Path(folder), begins_with=begins)) as stage:
            ready = monotonic() - began
            console.print(
                f"The stage is set after {ready:.1f} s: 18 nodes, 128 GPUs, 6 trainings, two hours of past."
            )
            player = Player(stage)
            for scenario in scenarios:
                console.print(f"[bold]{scenario.name}[/]: {scenario.title}")
                results.append(await player.play(scenario))
                if results[-1].failures:
                    console.print("  " + "; ".join(results[-1].failures), style="red", markup=False)
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


async def _at_leisure(scenarios: Sequence[Scenario], port: int, *, is_chosen: bool) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    console = Console()
    console.print(
        "Setting the stage: a cluster with two hours of past, a Prometheus, a Slack. A few seconds…"
    )
    begins = {fault.fault: fault.parameters for one in scenarios for fault in one.begins}
    with TemporaryDirectory(prefix="yardmaster-demo-") as folder:
        async with set_up(Plan(folder=Path(folder), slack_port=port, begins_with=begins)) as stage:
            console.print()
            console.print(
                f"  [bold]Open {stage.slack.page}?as=dana[/]  (dana is on call; switch people at the top right)"
            )
            console.print("  Type [bold]/yard help[/] there. Ctrl-C ends it.")
            console.print()
            async with asyncio.TaskGroup() as group:
                show = group.create_task(entertain(stage, scenarios, console))
                await stop.wait()
                show.cancel()
