"""F11, second half: from starting the demo to its first incident, over the least time that its rules need.

That is the longest `for` of the incident's rules, as the demo shortens them, and two scrapes. The clock starts with the
command, so starting the demo environment counts.
"""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.finished_process import finished
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
        wanted = load_scenarios()[SCENARIO].alerts
        least = _longest_for(folder, wanted) + 2 * SCRAPE_EVERY
        figures = await _played(folder / "demo.json")
    seconds = float(figures["ready"])
    played = next((one for one in figures["scenarios"] if one["name"] == SCENARIO), None)
    if played is None or played["opened"] is None:
        raise CannotRunError(f"the demo opened no incident: {played and played['failures']}")
    rule = Peer(name="the rules' `for`, two scrapes", value=least.total_seconds())
    return Outcome(
        rows=(
            Row(
                id="F11",
                measure="from starting the demo to its first incident",
                value=seconds + played["opened"],
                unit="s",
                peer=rule,
                goal=Goal(limit=1.5),
            ),
            Row(
                id="F11",
                measure="from the fault to the card in Slack",
                value=played["posted"],
                unit="s",
                peer=rule,
            ),
            Row(id="F11", measure="from the command until the demo is ready", value=seconds, unit="s"),
        )
    )


def _longest_for(folder: Path, wanted: Sequence[str]) -> timedelta:
    """Return the longest `for` of the rules of the scenario's incident, as the demo shortens them."""
    book = read_rulebook(RulesSettings(packs=(), files=tuple(write_packs(folder / "rules", FACTOR))))
    durations = [rule.timing.for_ for rule in book.rules if rule.name in wanted]
    if not durations:
        raise CannotRunError(f"no rule has the name {' or '.join(wanted)}")
    return max(durations)


async def _played(file: Path) -> Any:
    program = Path(sys.executable).with_name("yardmaster")
    if not program.exists():
        raise CannotRunError(
            f"no {program.name} next to {Path(sys.executable).name}: install the project first"
        )
    command = ("demo", "--once", "--scenario", SCENARIO, "--json", str(file))
    done = await finished(str(program), *command, folder=ROOT)
    try:
        return await asyncio.to_thread(lambda: json.loads(file.read_bytes()))
    except FileNotFoundError:
        raise CannotRunError(f"the demo wrote no figures: {_last_error(done.errors)}") from None


def _last_error(errors: str) -> str:
    """Return the last line that names an error, or else the last line."""
    lines = [line.strip(" |+-") for line in errors.splitlines()]
    named = [line for line in lines if "Error" in line.split(":")[0]]
    return (named or [line for line in lines if line] or ["no output"])[-1][:300]


BENCHMARK = Benchmark(id="F11-demo", title="the demo's first incident", run=run, limit=timedelta(seconds=180))
