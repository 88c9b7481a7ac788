"""Runs of benchmarks, one after another: dependencies first, and one failure does not stop the others."""

import asyncio
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.row import Benchmark, CannotRunError, Outcome, Row
from demo.parts.processes import PartError

ROOT = Path(__file__).parents[1]


class UnknownBenchmarkError(Exception):
    """No benchmark has this id. The text lists the existing ids."""


def chosen(ids: Sequence[str], among: Sequence[Benchmark]) -> tuple[Benchmark, ...]:
    """Return these benchmarks, or all, each after what it needs. `F11` selects the ids F11 and F11-…"""
    wanted = [
        one for one in among if not ids or any(one.id == id or one.id.startswith(f"{id}-") for id in ids)
    ]
    for id in ids:
        if not any(one.id == id or one.id.startswith(f"{id}-") for one in among):
            raise UnknownBenchmarkError(
                f"there is no benchmark {id}; choose from {', '.join(one.id for one in among)}"
            )
    needed = {need for one in wanted for need in one.needs}
    return tuple(one for one in among if one in wanted or one.id in needed)


def run_all(benchmarks: Sequence[Benchmark], *, log: Callable[[str], None]) -> dict[str, tuple[Row, ...]]:
    """Run them in this order, each in its own event loop; return their rows by id.

    One that cannot run becomes a row with the reason.
    """
    outcomes: dict[str, Outcome] = {}
    for benchmark in benchmarks:
        log(f"{benchmark.id}: {benchmark.title}")
        outcomes[benchmark.id] = asyncio.run(_run(benchmark, outcomes, log))
    return {id: outcome.rows for id, outcome in outcomes.items()}


async def _run(benchmark: Benchmark, outcomes: dict[str, Outcome], log: Callable[[str], None]) -> Outcome:
    needed = {id: outcomes[id] for id in benchmark.needs if id in outcomes}
    try:
        async with asyncio.timeout(benchmark.limit.total_seconds()):
            return await benchmark.run(needed)
    except (CannotRunError, PartError) as error:
        reason = str(error)
    except TimeoutError:
        reason = f"it did not end within {benchmark.limit.total_seconds():.0f} s"
    except Exception as error:  # a bug in one must not stop the others
        log(traceback.format_exc())
        reason = f"{type(error).__name__}: {error}"
    reason = reason.replace(str(ROOT), ".")  # results are published
    return Outcome(rows=(Row(id=benchmark.id, measure=benchmark.title, missing=reason),))
