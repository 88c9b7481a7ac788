"""This file lays tables out as text that is readable in a narrow window."""

from unicodedata import east_asian_width

from alerts.cards.message import Table

WIDTH = 36  # characters of fixed width that fit into 400 pixels beside a face and a coloured bar
CELL_AT_MOST = 60
GAP = "  "


def width_of(text: str) -> int:
    """How many columns a text takes: Chinese characters take two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def layout(table: Table) -> str:
    """Aligned columns if they fit into a narrow window; else a paragraph a row, its values named."""
    rows = [[_cell(cell) for cell in row] for row in (table.heading, *table.rows)]
    widths = [
        max(width_of(row[column]) for row in rows if column < len(row)) for column in range(_columns(rows))
    ]
    if sum(widths) + len(GAP) * (len(widths) - 1) <= WIDTH:
        return "\n".join(_aligned(row, widths) for row in rows)
    return "\n".join(_named(rows[0], row) for row in rows[1:])


def aligned(table: Table) -> str:
    """Aligned columns however wide, for a file."""
    rows = [list(row) for row in (table.heading, *table.rows)]
    widths = [
        max(width_of(row[column]) for row in rows if column < len(row)) for column in range(_columns(rows))
    ]
    return "\n".join(_aligned(row, widths) for row in rows) + "\n"


def _columns(rows: list[list[str]]) -> int:
    return max((len(row) for row in rows), default=0)


def _aligned(row: list[str], widths: list[int]) -> str:
    cells = (cell + " " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=False))
    return GAP.join(cells).rstrip()


def _named(heading: list[str], row: list[str]) -> str:
    first, *rest = row or [""]
    named = [f"{name}: {cell}" for name, cell in zip(heading[1:], rest, strict=False) if cell]
    return "\n".join([first, *(f"  {words}" for words in _filled(named))])


def _filled(words: list[str]) -> list[str]:
    """Joined while they fit into a line."""
    lines: list[str] = []
    for word in words:
        if lines and width_of(lines[-1]) + width_of(word) + 5 <= WIDTH:
            lines[-1] += f" · {word}"
        else:
            lines.append(word)
    return lines


def _cell(text: str) -> str:
    one = " ".join(text.split())
    return one if len(one) <= CELL_AT_MOST else one[: CELL_AT_MOST - 1] + "…"
