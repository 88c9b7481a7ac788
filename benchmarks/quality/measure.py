"""Measures of quality: a data set, and how many of its answers the product's own code gives."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from benchmarks.row import Benchmark, CannotRunError, Outcome, Row

DATA = (
    Path(__file__).parents[2].parent / "shared" / "data"
)  # beside the checkout; licences forbid a copy in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One measure. `file` is the data set's, below the folder of all data sets, for which `run` is called."""

    id: str
    title: str
    file: str
    run: Callable[[Path], Awaitable[tuple[Row, ...]]]
    needs_prometheus: bool = False
    limit: timedelta = timedelta(seconds=90)


def as_benchmark(measure: Measure, folder: Path) -> Benchmark:
    """Return the measure as a benchmark, which cannot run where its data set is missing."""

    async def run(_: Mapping[str, Outcome]) -> Outcome:
        file = folder / measure.file
        if not file.exists():
            raise CannotRunError(f"there is no data set {measure.file}")
        return Outcome(rows=await measure.run(file))

    return Benchmark(id=measure.id, title=measure.title, run=run, limit=measure.limit)
