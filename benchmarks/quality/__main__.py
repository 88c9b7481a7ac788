"""The command `python -m benchmarks.quality`: score the product on public data sets and print one table."""

import sys
from pathlib import Path

import click
from rich.console import Console

from benchmarks import report
from benchmarks.quality.catalogue import MEASURES
from benchmarks.quality.measure import DATA, as_benchmark
from benchmarks.running import ROOT, UnknownBenchmarkError, chosen, run_all
from collectors.facts.clock import SystemClock

DOCS = ROOT / "docs"


@click.command()
@click.argument("ids", nargs=-1)
@click.option(
    "--json",
    "file",
    type=click.Path(path_type=Path),
    default=ROOT / "benchmarks" / "out" / "quality.json",
    help="file for the figures; benchmarks/out/quality.json by default",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=DATA,
    help="folder of the data sets; ../shared/data by default",
)
@click.option("--record", is_flag=True, help="also write docs/quality.json and the table of docs/quality.md")
@click.option("--strict", is_flag=True, help="exit 1 when a goal is not met")
def main(ids: tuple[str, ...], file: Path, data: Path, record: bool, strict: bool) -> None:
    """Run all measures, or those with these IDS (capacity/cpa_linear)."""
    try:
        benchmarks = chosen(ids, [as_benchmark(measure, data) for measure in MEASURES])
    except UnknownBenchmarkError as unknown:
        raise click.ClickException(str(unknown)) from unknown
    console = Console(stderr=True)
    facts = report.machine()
    found = run_all(benchmarks, log=lambda text: console.print(text, markup=False, highlight=False))
    rows = [row for of in found.values() for row in of]
    if record and (ids or any(row.missing for row in rows)):
        raise click.ClickException("--record needs a run of all measures, with all data sets")
    now = SystemClock().now()
    columns = report.QUALITY_COLUMNS
    Console(width=None if sys.stdout.isatty() else 180).print(report.table(rows, facts, columns))
    written = report.as_json(rows, facts, now)
    report.write(file, written)
    if record:
        report.write(DOCS / "quality.json", written)
        report.put_in_page(DOCS / "quality.md", report.markdown(rows, facts, now, columns))
    if strict and any(row.met is False for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
