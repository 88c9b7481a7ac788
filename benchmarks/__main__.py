"""The command `python -m benchmarks`: run the benchmarks, print one table, write the figures as JSON."""

import sys
from pathlib import Path

import click
from rich.console import Console

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
    help="also write docs/benchmarks.json and the tables of docs/benchmarks.md and the README",
)
@click.option("--strict", is_flag=True, help="exit 1 when a goal is not met")
def main(ids: tuple[str, ...], file: Path, record: bool, strict: bool) -> None:
    """Run all benchmarks, or those with these IDS (F14), each beside its peer in the same run."""
    try:
        benchmarks = chosen(ids, BENCHMARKS)
    except UnknownBenchmarkError as unknown:
        raise click.ClickException(str(unknown)) from unknown
    if record and ids:
        raise click.ClickException("--record needs a run of all benchmarks: remove the ids")
    console = Console(stderr=True)
    facts = report.machine()
    rows = run_all(benchmarks, log=lambda text: console.print(text, markup=False, highlight=False))
    now = SystemClock().now()
    Console(width=None if sys.stdout.isatty() else 180).print(report.table(rows, facts))
    written = report.as_json(rows, facts, now)
    report.write(file, written)
    if record:
        report.write(DOCS / "benchmarks.json", written)
        report.put_in_page(DOCS / "benchmarks.md", report.markdown(rows, facts, now))
        generate.main([])  # the README has some of them
    if strict and any(row.met is False for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
