"""The whole of a message as plain text, for the file beside what Slack shows of it."""

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
from bot.channels.slack.table_layout import aligned


def whole_text(message: Message) -> str:
    """Return all that the message says. Its buttons are the lines that they stand for."""
    parts = [plain(message.title), *map(_plain_block, message.blocks)]
    return "\n\n".join(part for part in parts if part.strip())


def _plain_block(block: Block) -> str:
    match block:
        case Paragraph(text=words) | Context(text=words):
            return plain(words)
        case Fields(rows=rows):
            return "\n".join(f"{name}: {plain(value)}" for name, value in rows)
        case Preformatted(lines=lines):
            return "\n".join(lines)
        case Table():
            return aligned(block)
        case Buttons():
            return "\n".join(f"{one.label}: {one.line or one.address}" for one in block.flat.buttons)
        case Image():
            return block.alt
