"""Messages in the reader's language. Names, code, quotes and command lines stay as they are."""

from dataclasses import replace

from alerts.cards.message import (
    Block,
    Button,
    Buttons,
    Context,
    Fields,
    Message,
    Paragraph,
    Preformatted,
    Span,
    Style,
    Table,
    Text,
)
from bot.language.phrasebook import Phrasebook

_SAID = frozenset({Style.PLAIN, Style.BOLD, Style.LINK})


def translated(message: Message, book: Phrasebook) -> Message:
    """Return the message in the language of the phrasebook."""
    if not book:
        return message
    return replace(
        message,
        title=translated_text(message.title, book),
        blocks=tuple(_block(block, book) for block in message.blocks),
        summary=book.say(message.summary),
    )


def translated_text(content: Text, book: Phrasebook) -> Text:
    return tuple(_span(span, book) for span in content) if book else content


def _span(span: Span, book: Phrasebook) -> Span:
    return replace(span, text=book.say(span.text)) if span.style in _SAID else span


def _block(block: Block, book: Phrasebook) -> Block:
    match block:
        case Paragraph() | Context():
            return replace(block, text=translated_text(block.text, book))
        case Fields():
            rows = ((book.say(name), translated_text(value, book)) for name, value in block.rows)
            return replace(block, rows=tuple(rows))
        case Table():
            return replace(
                block,
                heading=tuple(map(book.say, block.heading)),
                rows=tuple(tuple(map(book.say, row)) for row in block.rows),
            )
        case Buttons():
            return replace(block, buttons=tuple(_button(button, book) for button in block.buttons))
        case Preformatted():
            return block


def _button(button: Button, book: Phrasebook) -> Button:
    return replace(button, label=book.say(button.label))
