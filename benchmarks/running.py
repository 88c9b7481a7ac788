"""This file runs benchmarks, one after the other: what one needs before it, and none lost because another failed."""

import asyncio
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.row import Benchmark, CannotRunError, Outcome, Row
from demo.parts.processes import PartError

ROOT = Path(__file__).parents[1]


class UnknownBenchmarkError(Exception):
    """No benchmark has this id. The text lists those that there are."""


def chosen(ids: Sequence[str], among: Sequence[Benchmark]) -> tuple[Benchmark, ...]:
    """Those benchmarks, or all, and before each what it needs. `F11` means every one whose id is F11 or F11-…"""
    wanted = [
        one for one in among if not ids or any(one.id == id or one.id.startswith(f"{id}-") for id in ids)
    ]
    for id in ids:
        if not any(one.id == id or one.id.startswith(f"{id}-") for one in among):
            raise UnknownBenchmarkError(
                f"there is no benchmark {id}; there are {', '.join(one.id for one in among)}"
            )
    needed = {need for one in wanted for need in one.needs}
    return tuple(one for one in among if one in wanted or one.id in needed)


def run_all(benchmarks: Sequence[Benchmark], *, say: Callable[[str], None]) -> tuple[Row, ...]:
    """Run them in this order, each in an event loop of its own. What cannot be run becomes a row that says why."""
    outcomes: dict[str, Outcome] = {}
    for benchmark in benchmarks:
        say(f"{benchmark.id}: {benchmark.title}")
        outcomes[benchmark.id] = asyncio.run(_run(benchmark, outcomes, say))
    return tuple(row for outcome in outcomes.values() for row in outcome.rows)


async def _run(benchmark: Benchmark, outcomes: dict[str, Outcome], say: Callable[[str], None]) -> Outcome:
    needed = {id: outcomes[id] for id in benchmark.needs if id in outcomes}
    try:
        async with asyncio.timeout(benchmark.limit.total_seconds()):
            return await benchmark.run(needed)
    except (CannotRunError, PartError) as error:
        why = str(error)
    except TimeoutError:
        why = f"it did not end within {benchmark.limit.total_seconds():.0f} s"
    except Exception as error:  # a fault in one must not cost the others
        say(traceback.format_exc())
        why = f"{type(error).__name__}: {error}"
    why = why.replace(str(ROOT), ".")  # results are published
    return Outcome(rows=(Row(id=benchmark.id, measure=benchmark.title, missing=why),))
