"""The `yardmaster demo` command: run scenarios in a loop, or each once with checks.

It is loaded with every `yardmaster` command, so it imports the environment only when the demo runs.
"""

import asyncio
import sys
from pathlib import Path

import click

from bot.jobs.garbage_collection import collect_in_small_parts


@click.command()
@click.option("--scenario", "names", multiple=True, metavar="NAME", help="run only this scenario; repeatable")
@click.option("--once", is_flag=True, help="run each scenario once, without a browser; exit 1 if one fails")
@click.option(
    "--json", "file", type=click.Path(path_type=Path), help="with --once: also write the results to PATH"
)
@click.option("--port", default=0, help="port of the Slack look-alike's page; default: any free port")
@click.option("--log", type=click.Path(path_type=Path), help="write Yardmaster's log to PATH and keep it")
def demo(names: tuple[str, ...], once: bool, file: Path | None, port: int, log: Path | None) -> None:
    """Run Yardmaster on a simulated GPU cluster."""
    collect_in_small_parts()  # as `yardmaster run` does; here, because the imports make many objects
    from demo.autoplay import run_forever
    from demo.parts.processes import MissingPartError
    from demo.parts.prometheus import find_prometheus, find_promtool
    from demo.run_once import run_once
    from demo.scenario import load_scenarios

    known = load_scenarios()
    for name in names:
        if name not in known:
            raise click.ClickException(f"unknown scenario `{name}`; choose from {', '.join(known)}")
    scenarios = [known[name] for name in names] if names else list(known.values())
    try:
        find_prometheus()
        find_promtool()
    except MissingPartError as missing:
        raise click.ClickException(str(missing)) from missing
    if once:
        sys.exit(asyncio.run(run_once(scenarios, file, log)))
    asyncio.run(run_forever(scenarios, port, log))
