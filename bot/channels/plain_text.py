"""Plain-text rendering of messages, for terminals, logs, and the file beside what Slack shows of one."""

from alerts.cards.message import (
    Block,
    Buttons,
    Context,
    Fields,
    Image,
    Message,
    Paragraph,
    Preformatted,
    Table,
)
from alerts.cards.text import plain
from bot.channels.display_width import padded, width_of
from bot.language.message_catalogue import ENGLISH, Catalogue
from bot.language.translation import translated
from collectors.facts.sentences import sentence

MAX_CELL = 60


def plain_text(message: Message, catalogue: Catalogue = ENGLISH) -> str:
    """Return the message as lines of text. Buttons become their command lines."""
    return in_full(translated(message, catalogue), catalogue, max_cell=MAX_CELL)


def in_full(message: Message, catalogue: Catalogue, *, max_cell: int = 0) -> str:
    """Return the lines of a message that is in the catalogue's language. Unless `max_cell` is given, nothing is cut."""
    parts = [plain(message.title), *(_block(block, catalogue, max_cell) for block in message.blocks)]
    return "\n".join(part for part in parts if part)


def _block(block: Block, catalogue: Catalogue, max_cell: int) -> str:
    match block:
        case Paragraph() | Context():
            return plain(block.text)
        case Fields():
            width = max((width_of(name) for name, _ in block.rows), default=0)
            return "\n".join(f"  {padded(name, width)}  {plain(value)}" for name, value in block.rows)
        case Preformatted():
            return "\n".join(f"  {line}" for line in block.lines)
        case Table():
            return table(block, catalogue, max_cell=max_cell)
        case Image():
            return catalogue.say(block.alt)
        case Buttons():
            return "\n".join(
                [
                    *(f"  [{one.label}] {one.line or one.address}" for one in block.flat.buttons),
                    *(f"  [{one.label}] {one.people_line} PERSON" for one in block.menus if one.people_line),
                ]
            )


def table(block: Table, catalogue: Catalogue = ENGLISH, *, max_cell: int = MAX_CELL) -> str:
    """Return the heading and the rows in columns; a column that is empty in every row is left out.

    `max_cell`: 0 cuts none.
    """
    rows = [block.heading, *block.rows]
    used = [number for number in range(len(block.heading)) if any(row[number] for row in block.rows)]
    cells = [[_cut(row[number], max_cell) for number in used] for row in rows]
    widths = [max(width_of(row[column]) for row in cells) for column in range(len(used))]
    lines = [
        "  ".join(padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    if block.more:
        lines.append(catalogue.say(sentence("… {more} more", more=block.more)))
    return "\n".join(lines)


def _cut(text: str, at_most: int) -> str:
    text = " ".join(text.split())
    return text if not at_most or len(text) <= at_most else text[: at_most - 1] + "…"
