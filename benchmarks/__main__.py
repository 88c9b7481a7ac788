"""The command `python -m benchmarks`: run the benchmarks, print one table, write the figures as JSON."""

import sys
from pathlib import Path

import click
from rich.console import Console

from benchmarks import record as recorded
from benchmarks import report
from benchmarks.catalogue import BENCHMARKS
from benchmarks.running import UnknownBenchmarkError, chosen, run_all
from collectors.facts.clock import SystemClock
from docs import generate

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"


@click.command()
@click.argument("ids", nargs=-1)
@click.option(
    "--json",
    "file",
    type=click.Path(path_type=Path),
    default=HERE / "out" / "results.json",
    help="file for the figures; benchmarks/out/results.json by default",
)
@click.option(
    "--record",
    is_flag=True,
    help="also put these runs into docs/benchmarks.json and the tables of docs/benchmarks.md and the README",
)
@click.option("--strict", is_flag=True, help="exit 1 when a goal is not met")
def main(ids: tuple[str, ...], file: Path, record: bool, strict: bool) -> None:
    """Run all benchmarks, or those with these IDS (F14), each beside its peer in the same run."""
    try:
        benchmarks = chosen(ids, BENCHMARKS)
    except UnknownBenchmarkError as unknown:
        raise click.ClickException(str(unknown)) from unknown
    console = Console(stderr=True)
    facts = report.machine()
    found = run_all(benchmarks, log=lambda text: console.print(text, markup=False, highlight=False))
    rows = [row for of in found.values() for row in of]
    now = SystemClock().now()
    Console(width=None if sys.stdout.isatty() else 180).print(report.table(rows, facts))
    report.write(file, report.as_json(rows, facts, now))
    if record:
        at = now.isoformat(timespec="seconds")
        runs = {id: recorded.run_of(of, facts, at) for id, of in found.items()}
        order = [one.id for one in BENCHMARKS]
        after = recorded.with_runs(recorded.read(DOCS / "benchmarks.json"), runs, order=order)
        report.write(DOCS / "benchmarks.json", recorded.as_json(after))
        report.put_in_page(DOCS / "benchmarks.md", recorded.markdown(after))
        generate.main([])  # the README has some of them
    if strict and any(row.met is False for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
