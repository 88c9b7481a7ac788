"""Slack's own tables, which fit any window; a message has one, and its other tables are text."""

from collections.abc import Iterable
from typing import Any

from alerts.cards.message import Block, Table
from bot.channels.slack import block_limits

NAME = 24  # characters of a cell that is no sentence
EMPTY = "–"  # a cell has at least one character

Json = dict[str, Any]


def largest_table(blocks: Iterable[Block]) -> Table | None:
    """Return the table that becomes Slack's own."""
    tables = [block for block in blocks if isinstance(block, Table) and block.rows]
    return max(tables, key=lambda table: len(table.rows), default=None)


def native_table(table: Table) -> tuple[Json, int] | None:
    """Return Slack's table, and how many rows do not fit into it; None when it has too many columns.

    A column that is empty in every row is left out. Only sentences are wrapped: names and numbers stay on their line.
    """
    width = len(table.heading)
    used = [number for number in range(width) if any(row[number].strip() for row in table.rows)]
    if not used or len(used) > block_limits.TABLE_COLUMNS:
        return None
    rows, room = [_row(table.heading, used)], block_limits.TABLE_CHARACTERS
    for row in table.rows[: block_limits.TABLE_ROWS - 1]:
        cells = _row(row, used)
        room -= sum(len(cell["text"]) for cell in cells)
        if room < 0:
            break
        rows.append(cells)
    settings = [{"is_wrapped": any(len(row[number]) > NAME for row in table.rows)} for number in used]
    return {"type": "table", "column_settings": settings, "rows": rows}, len(table.rows) - (len(rows) - 1)


def _row(cells: tuple[str, ...], used: list[int]) -> list[Json]:
    return [{"type": "raw_text", "text": _cut(" ".join(cells[number].split())) or EMPTY} for number in used]


def _cut(text: str) -> str:
    most = block_limits.CELL
    return text if len(text) <= most else text[: most - 1] + "…"
