"""This file measures F11's second half: from starting the demo to its first incident, over the patience of its rules.

The patience is the longest `for` of the rules that the incident is made of, as the demo quickens them, and two
scrapes. The clock begins with the command, so setting the stage counts.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.row import Benchmark, CannotRunError, Goal, Outcome, Peer, Row
from bot.evaluation.rulebook import read_rulebook
from bot.settings.schema import RulesSettings
from demo.environment import FACTOR, SCRAPE_EVERY
from demo.faster_rules import write_packs
from demo.scenario import load_scenarios

SCENARIO = "hot-gpu"
ROOT = Path(__file__).parents[2]


async def run(_: Mapping[str, Outcome]) -> Outcome:
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        wanted = load_scenarios()[SCENARIO].seen
        patience = _patience(folder, wanted) + 2 * SCRAPE_EVERY
        told = await _played(folder / "demo.json")
    seconds = float(told["ready"])
    played = next((one for one in told["scenarios"] if one["name"] == SCENARIO), None)
    if played is None or played["opened"] is None:
        raise CannotRunError(f"the demo saw no incident: {played and played['failures']}")
    rule = Peer(name="the rules' `for`, two scrapes", value=patience.total_seconds())
    return Outcome(
        rows=(
            Row(
                id="F11",
                measure="from starting the demo to its first incident",
                value=seconds + played["opened"],
                unit="s",
                peer=rule,
                goal=Goal(limit=2.0),
            ),
            Row(
                id="F11",
                measure="from the fault to the card in Slack",
                value=played["posted"],
                unit="s",
                peer=rule,
            ),
            Row(id="F11", measure="from the command until the demo's stage is set", value=seconds, unit="s"),
        )
    )


def _patience(folder: Path, wanted: Sequence[str]) -> timedelta:
    """The longest `for` of the rules that make the scenario's incident, as the demo has them."""
    book = read_rulebook(RulesSettings(packs=(), files=tuple(write_packs(folder / "rules", FACTOR))))
    holds = [rule.timing.for_ for rule in book.rules if rule.name in wanted]
    if not holds:
        raise CannotRunError(f"no rule is called {' or '.join(wanted)}")
    return max(holds)


async def _played(file: Path) -> Any:
    program = Path(sys.executable).with_name("yardmaster")
    if not program.exists():
        raise CannotRunError(
            f"no {program.name} beside {Path(sys.executable).name}: install the project first"
        )
    process = await asyncio.create_subprocess_exec(
        program,
        *("demo", "--once", "--scenario", SCENARIO, "--json", str(file)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    try:
        _, said = await process.communicate()
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()
    try:
        return await asyncio.to_thread(lambda: json.loads(file.read_bytes()))
    except FileNotFoundError:
        raise CannotRunError(f"the demo gave no figures: {_last_words(said)}") from None


def _last_words(said: bytes) -> str:
    """The line of a program's errors that says most: the last that names an error, or the last."""
    lines = [line.strip(" |+-") for line in said.decode(errors="replace").splitlines()]
    named = [line for line in lines if "Error" in line.split(":")[0]]
    return (named or [line for line in lines if line] or ["nothing"])[-1][:300]


BENCHMARK = Benchmark(id="F11-demo", title="the demo's first incident", run=run, limit=timedelta(seconds=180))
