"""The command `python -m benchmarks.quality`: score the product on public data sets and print one table."""

from pathlib import Path

import click

from benchmarks import report
from benchmarks.command_line import exit_if_missed, json_option, print_table, run_chosen, strict_option
from benchmarks.quality.catalogue import MEASURES
from benchmarks.quality.measure import DATA, as_benchmark
from benchmarks.running import ROOT
from collectors.facts.clock import SystemClock

DOCS = ROOT / "docs"


@click.command()
@click.argument("ids", nargs=-1)
@json_option("quality.json")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=DATA,
    help="folder of the data sets; ../shared/data by default",
)
@click.option("--record", is_flag=True, help="also write docs/quality.json and the table of docs/quality.md")
@strict_option
def main(ids: tuple[str, ...], file: Path, data: Path, record: bool, strict: bool) -> None:
    """Run all measures, or those with these IDS (capacity/cpa_linear)."""
    facts = report.machine()
    found = run_chosen(ids, [as_benchmark(measure, data) for measure in MEASURES])
    rows = [row for of in found.values() for row in of]
    if record and (ids or any(row.missing for row in rows)):
        raise click.ClickException("--record needs a run of all measures, with all data sets")
    now = SystemClock().now()
    columns = report.QUALITY_COLUMNS
    print_table(report.table(rows, facts, columns))
    written = report.as_json(rows, facts, now)
    report.write(file, written)
    if record:
        report.write(DOCS / "quality.json", written)
        report.put_in_page(DOCS / "quality.md", report.markdown(rows, facts, now, columns))
    if strict:
        exit_if_missed(rows)


if __name__ == "__main__":
    main()
