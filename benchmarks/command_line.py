"""Parts of the commands that run benchmarks: their common options, the run with its progress, the table of it."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmarks.row import Benchmark, Row
from benchmarks.running import ROOT, UnknownBenchmarkError, chosen, run_all

strict_option = click.option("--strict", is_flag=True, help="exit 1 when a goal is not met")


def json_option(name: str) -> Callable[[Any], Any]:
    file = ROOT / "benchmarks" / "out" / name
    return click.option(
        "--json",
        "file",
        type=click.Path(path_type=Path),
        default=file,
        help=f"file for the figures; {file.relative_to(ROOT)} by default",
    )


def run_chosen(ids: Sequence[str], among: Sequence[Benchmark]) -> Mapping[str, Sequence[Row]]:
    """Run all of these, or those with these ids, and say meanwhile how far it is."""
    try:
        benchmarks = chosen(ids, among)
    except UnknownBenchmarkError as unknown:
        raise click.ClickException(str(unknown)) from unknown
    console = Console(stderr=True)
    return run_all(benchmarks, log=lambda text: console.print(text, markup=False, highlight=False))


def print_table(table: Table) -> None:
    Console(width=None if sys.stdout.isatty() else 180).print(table)


def exit_if_missed(rows: Sequence[Row]) -> None:
    """End with 1 if a goal is not met."""
    if any(row.met is False for row in rows):
        sys.exit(1)
