"""The command `python -m benchmarks`: run the benchmarks, print one table, write the figures as JSON."""

from pathlib import Path

import click

from benchmarks import record as recorded
from benchmarks import report
from benchmarks.catalogue import BENCHMARKS
from benchmarks.command_line import exit_if_missed, json_option, print_table, run_chosen, strict_option
from benchmarks.running import ROOT
from collectors.facts.clock import SystemClock
from docs import generate

DOCS = ROOT / "docs"


@click.command()
@click.argument("ids", nargs=-1)
@json_option("results.json")
@click.option(
    "--record",
    is_flag=True,
    help="also put these runs into docs/benchmarks.json and the tables of docs/benchmarks.md and the README",
)
@strict_option
def main(ids: tuple[str, ...], file: Path, record: bool, strict: bool) -> None:
    """Run all benchmarks, or those with these IDS (F14), each beside its peer in the same run."""
    facts = report.machine()
    found = run_chosen(ids, BENCHMARKS)
    rows = [row for of in found.values() for row in of]
    now = SystemClock().now()
    print_table(report.table(rows, facts))
    report.write(file, report.as_json(rows, facts, now))
    if record:
        at = now.isoformat(timespec="seconds")
        runs = {id: recorded.run_of(of, facts, at) for id, of in found.items()}
        order = [one.id for one in BENCHMARKS]
        after = recorded.with_runs(recorded.read(DOCS / "benchmarks.json"), runs, order=order)
        report.write(DOCS / "benchmarks.json", recorded.as_json(after))
        report.put_in_page(DOCS / "benchmarks.md", recorded.markdown(after))
        generate.main([])  # the README has some of them
    if strict:
        exit_if_missed(rows)


if __name__ == "__main__":
    main()
