"""This file is `yardmaster demo`: the cluster in a box, played at leisure, or each scenario once and judged.

It is loaded with every `yardmaster` command, so it imports the stage only when something is played on it.
"""

import asyncio
import sys
from pathlib import Path

import click


@click.command()
@click.option("--scenario", "names", multiple=True, metavar="NAME", help="only this one; may be given again")
@click.option(
    "--once", is_flag=True, help="play each once, without a browser, and print a table; exit 1 if one fails"
)
@click.option(
    "--json", "file", type=click.Path(path_type=Path), help="with --once: write the results there, too"
)
@click.option("--port", default=0, help="of the Slack look-alike's page; any free one unless given")
@click.option(
    "--log", type=click.Path(path_type=Path), help="keep Yardmaster's log there; else it ends with the demo"
)
def demo(names: tuple[str, ...], once: bool, file: Path | None, port: int, log: Path | None) -> None:
    """Run Yardmaster on a simulated GPU cluster."""
    from demo.autoplay import run_forever
    from demo.parts.processes import MissingPartError
    from demo.parts.prometheus import find_prometheus, find_promtool
    from demo.run_once import run_once
    from demo.scenario import load_scenarios

    known = load_scenarios()
    for name in names:
        if name not in known:
            raise click.ClickException(f"there is no scenario `{name}`; there are {', '.join(known)}")
    scenarios = [known[name] for name in names] if names else list(known.values())
    try:
        find_prometheus()
        find_promtool()
    except MissingPartError as missing:
        raise click.ClickException(str(missing)) from missing
    if once:
        sys.exit(asyncio.run(run_once(scenarios, file, log)))
    asyncio.run(run_forever(scenarios, port, log))
