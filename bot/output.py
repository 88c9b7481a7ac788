"""Tables for people and JSON for programs, from the same rows."""

import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence

import click
from prettytable import PrettyTable, TableStyle
from wcwidth import wcswidth

from collectors.facts.one_line import LONGEST, one_line

OutputRow = Mapping[str, object]


def show_rows(rows: Sequence[OutputRow], columns: Sequence[str], *, as_json: bool) -> None:
    """Print the rows as a table, or one JSON document."""
    if as_json:
        show_json(list(rows))
        return
    cells = ([row.get(column) for column in columns] for row in rows)
    show_table(columns, (["" if cell is None else str(cell) for cell in row] for row in cells))


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None) -> None:
    """Print a table: with frames and as wide as a terminal at most, or aligned columns where there is none.

    A cell is one line, without what cannot be printed.
    """
    table = PrettyTable(columns, title=title, align="l")
    table.add_rows([[one_line(cell, LONGEST) for cell in row] for row in rows])
    if sys.stdout.isatty():
        table.set_style(TableStyle.SINGLE_BORDER)
        table.break_on_hyphens = False
        widths = [
            max(map(wcswidth, (name, *cells))) for name, *cells in zip(columns, *table.rows, strict=True)
        ]
        room = shutil.get_terminal_size().columns - 3 * len(columns) - 1
        table.max_width = dict(zip(columns, narrowed(widths, room), strict=True))
    else:
        table.border, table.left_padding_width, table.right_padding_width = False, 0, 2
    lines = table.get_string().splitlines() or ["  ".join(columns)]
    click.echo("\n".join(line.rstrip() for line in lines))


def narrowed(widths: Sequence[int], room: int) -> list[int]:
    """Return the widths of columns that take this room together: the widest give way, down to a common width."""
    wide = sorted(widths)
    for number, width in enumerate(wide):
        share = max(1, (room - sum(wide[:number])) // (len(wide) - number))
        if width > share:
            return [min(one, share) for one in widths]
    return list(widths)


def show_json(content: object) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False))
