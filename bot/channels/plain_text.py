"""Plain-text rendering of messages, for terminals and logs."""

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
    message = translated(message, catalogue)
    parts = [plain(message.title), *(_block(block, catalogue) for block in message.blocks)]
    return "\n".join(part for part in parts if part)


def _block(block: Block, catalogue: Catalogue) -> str:
    match block:
        case Paragraph() | Context():
            return plain(block.text)
        case Fields():
            width = max((width_of(name) for name, _ in block.rows), default=0)
            return "\n".join(f"  {padded(name, width)}  {plain(value)}" for name, value in block.rows)
        case Preformatted():
            return "\n".join(f"  {line}" for line in block.lines)
        case Table():
            return table(block, catalogue)
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
    """Return the heading and the rows in columns; a column that is empty in every row is left out."""
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
    return text if len(text) <= at_most else text[: at_most - 1] + "…"
