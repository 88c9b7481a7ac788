"""Tables for people and JSON for programs, from the same rows."""

import json
from collections.abc import Mapping, Sequence

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

_UNLIMITED = 10_000  # columns: a pipe or a file has no edge

OutputRow = Mapping[str, object]


def show_rows(rows: Sequence[OutputRow], columns: Sequence[str], *, as_json: bool) -> None:
    """Print the rows: with colors and frames on a terminal, aligned columns elsewhere, or one JSON document."""
    if as_json:
        show_json(list(rows))
        return
    console = Console()
    if console.is_terminal:
        table = Table(*columns)
    else:
        console = Console(width=_UNLIMITED)
        table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(_cell(row.get(column))) for column in columns))
    with console.capture() as captured:
        console.print(table)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def show_json(content: object) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False))


def _cell(value: object) -> str:
    """Return the value on one line."""
    return "" if value is None else " ".join(str(value).split())
