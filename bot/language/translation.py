"""Messages in the reader's language. Names, code, quotes and command lines stay as they are."""

from dataclasses import replace

from alerts.cards.message import (
    Block,
    Button,
    Buttons,
    Context,
    Fields,
    Image,
    Menu,
    Message,
    Paragraph,
    Preformatted,
    Table,
)
from alerts.cards.sentence_spans import expanded
from alerts.cards.text import Span, Style, Text
from bot.language.message_catalogue import Catalogue
from collectors.facts.sentences import Sentence

_KEPT = frozenset({"line"})  # columns of command lines
_SAID = frozenset({Style.PLAIN, Style.BOLD, Style.LINK})


def translated(message: Message, catalogue: Catalogue) -> Message:
    """Return the message in the language of the catalogue."""
    if message.is_document:
        shown = (
            _block(block, catalogue) if isinstance(block, Buttons) else block for block in message.blocks
        )
        return replace(message, blocks=tuple(shown))
    return replace(
        message,
        title=translated_text(message.title, catalogue),
        blocks=tuple(_block(block, catalogue) for block in message.blocks),
        summary=catalogue.say(message.summary),
    )


def translated_text(content: Text, catalogue: Catalogue) -> Text:
    """Return the text. A span that is no sentence is fixed words or a name, and stands for itself."""
    said: list[Span] = []
    for span in content:
        if isinstance(span.text, Sentence):
            said += expanded((span,), catalogue)
        else:
            said.append(replace(span, text=catalogue.say(span.text)) if span.style in _SAID else span)
    return tuple(said)


def _block(block: Block, catalogue: Catalogue) -> Block:
    match block:
        case Paragraph() | Context():
            return replace(block, text=translated_text(block.text, catalogue))
        case Fields():
            rows = (
                (catalogue.say(name, "field"), translated_text(value, catalogue))
                for name, value in block.rows
            )
            return replace(block, rows=tuple(rows))
        case Table():
            kept = {number for number, name in enumerate(block.heading) if name in _KEPT}
            cells = tuple(
                tuple(cell if number in kept else catalogue.say(cell) for number, cell in enumerate(row))
                for row in block.rows
            )
            heading = tuple(catalogue.say(name, "heading") for name in block.heading)
            return replace(block, heading=heading, rows=cells)
        case Buttons():
            menus = tuple(_menu(menu, catalogue) for menu in block.menus)
            return Buttons(buttons=tuple(_button(button, catalogue) for button in block.buttons), menus=menus)
        case Image():
            return replace(block, alt=catalogue.say(block.alt))
        case Preformatted():  # text from outside stays as it is
            lines = (catalogue.say(line) if isinstance(line, Sentence) else line for line in block.lines)
            return Preformatted(lines=tuple(lines))


def _button(button: Button, catalogue: Catalogue) -> Button:
    """Return the button with its label translated; a label that is a part of its line is a name."""
    return (
        button
        if button.label in button.line
        else replace(button, label=catalogue.say(button.label, "button"))
    )


def _menu(menu: Menu, catalogue: Catalogue) -> Menu:
    options = tuple(_button(option, catalogue) for option in menu.options)
    return replace(menu, label=catalogue.say(menu.label), options=options)
