"""Slack's own tables, which fit any window; a message has one, and its other tables are text."""

from collections.abc import Iterable
from datetime import datetime

from alerts.cards.message import Block, Table
from alerts.cards.text import Span, Style, with_moments
from bot.channels.slack import block_limits
from bot.channels.slack.elements import SlackJson
from bot.channels.slack.markup import DATE

EMPTY = "–"  # a cell has at least one character
WHOLE = 16  # characters: a column of such short cells is not wrapped


def largest_table(blocks: Iterable[Block]) -> Table | None:
    """Return the table that becomes Slack's own: one with moments, which text cannot show in the reader's time."""
    tables = [block for block in blocks if isinstance(block, Table) and block.rows]
    return max(tables, key=lambda table: (_has_moments(table), len(table.rows)), default=None)


def _has_moments(table: Table) -> bool:
    return any(
        span.style is Style.MOMENT for row in table.rows for cell in row for span in with_moments(cell)
    )


def native_table(table: Table) -> tuple[SlackJson, int] | None:
    """Return Slack's table, and how many rows do not fit into it; None when it has too many columns.

    A column that is empty in every row is left out. Only long cells are wrapped: short names and numbers stay whole.
    """
    width = len(table.heading)
    used = [number for number in range(width) if any(row[number].strip() for row in table.rows)]
    if not used or len(used) > block_limits.TABLE_COLUMNS:
        return None
    rows, room = [_row(table.heading, used)], block_limits.TABLE_CHARACTERS
    for row in table.rows[: block_limits.TABLE_ROWS - 1]:
        cells = _row(row, used)
        room -= sum(len(row[number]) for number in used)
        if room < 0:
            break
        rows.append(cells)
    settings = [{"is_wrapped": any(len(row[number]) > WHOLE for row in table.rows)} for number in used]
    return {"type": "table", "column_settings": settings, "rows": rows}, len(table.rows) - (len(rows) - 1)


def _row(cells: tuple[str, ...], used: list[int]) -> list[SlackJson]:
    return [_cell(_cut(" ".join(cells[number].split())) or EMPTY) for number in used]


def _cell(words: str) -> SlackJson:
    """Return a cell: plain text, or rich text if it has a moment, which Slack shows in the reader's time."""
    spans = with_moments(words)
    if not any(span.style is Style.MOMENT for span in spans):
        return {"type": "raw_text", "text": words}
    elements = [_moment(span) if span.style is Style.MOMENT else _words(span) for span in spans]
    section = {"type": "rich_text_section", "elements": elements}
    return {"type": "rich_text", "elements": [section]}


def _words(span: Span) -> SlackJson:
    return {"type": "text", "text": span.text}


def _moment(span: Span) -> SlackJson:
    stamp = int(datetime.fromisoformat(span.target).timestamp())
    return {"type": "date", "timestamp": stamp, "format": DATE, "fallback": span.text}


def _cut(text: str) -> str:
    most = block_limits.CELL
    return text if len(text) <= most else text[: most - 1] + "…"
