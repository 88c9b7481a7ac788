"""Tables as text that is readable in a narrow window."""

from alerts.cards.message import Table
from bot.channels.display_width import padded, width_of

WIDTH = 36  # fixed-width characters that fit into 400 pixels beside an avatar and a coloured bar
MAX_CELL = 60
GAP = "  "


def layout(table: Table) -> str:
    """Return aligned columns if they fit into a narrow window, else one paragraph of named values per row."""
    rows = [[_cell(cell) for cell in row] for row in (table.heading, *table.rows)]
    widths = [
        max(width_of(row[column]) for row in rows if column < len(row)) for column in range(_columns(rows))
    ]
    if sum(widths) + len(GAP) * (len(widths) - 1) <= WIDTH:
        return "\n".join(_aligned(row, widths) for row in rows)
    return "\n".join(_named(rows[0], row) for row in rows[1:])


def aligned(table: Table) -> str:
    """Return aligned columns of any width, for a file."""
    rows = [list(row) for row in (table.heading, *table.rows)]
    widths = [
        max(width_of(row[column]) for row in rows if column < len(row)) for column in range(_columns(rows))
    ]
    return "\n".join(_aligned(row, widths) for row in rows) + "\n"


def _columns(rows: list[list[str]]) -> int:
    return max((len(row) for row in rows), default=0)


def _aligned(row: list[str], widths: list[int]) -> str:
    cells = (padded(cell, width) for cell, width in zip(row, widths, strict=False))
    return GAP.join(cells).rstrip()


def _named(heading: list[str], row: list[str]) -> str:
    first, *rest = row or [""]
    named = [f"{name}: {cell}" for name, cell in zip(heading[1:], rest, strict=False) if cell]
    return "\n".join([first, *(f"  {line}" for line in _filled(named))])


def _filled(values: list[str]) -> list[str]:
    """Join the values while they fit into a line."""
    lines: list[str] = []
    for value in values:
        if lines and width_of(lines[-1]) + width_of(value) + 5 <= WIDTH:
            lines[-1] += f" · {value}"
        else:
            lines.append(value)
    return lines


def _cell(text: str) -> str:
    cell = " ".join(text.split())
    return cell if len(cell) <= MAX_CELL else cell[: MAX_CELL - 1] + "…"
