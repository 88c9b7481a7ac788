"""Messages in the reader's language. Names, code, quotes and command lines stay as they are."""

import re
from dataclasses import replace
from enum import Enum, auto
from itertools import groupby

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
from bot.language.phrase import FIRST_TOKEN, LAST_TOKEN
from bot.language.phrasebook import Phrasebook
from collectors.facts.sentences import Sentence

_TOKENS = frozenset(map(chr, range(FIRST_TOKEN, LAST_TOKEN + 1)))
_BY_TOKEN = re.compile(f"([{chr(FIRST_TOKEN)}-{chr(LAST_TOKEN)}])")
_KEPT = frozenset({"line"})  # columns of command lines
_SAID = frozenset({Style.PLAIN, Style.BOLD, Style.LINK})


def translated(message: Message, book: Phrasebook) -> Message:
    """Return the message in the language of the phrasebook."""
    if message.is_document:
        shown = (_block(block, book) if isinstance(block, Buttons) else block for block in message.blocks)
        return replace(message, blocks=tuple(shown))
    return replace(
        message,
        title=translated_text(message.title, book),
        blocks=tuple(_block(block, book) for block in message.blocks),
        summary=book.say(message.summary),
    )


def translated_text(content: Text, book: Phrasebook) -> Text:
    """Return the text, sentence by sentence. A sentence may have names and code in it, which are spans of their own."""
    said: list[Span] = []
    for kind, spans in groupby(content, _kind):
        run = tuple(spans)
        if kind is _Kind.SENTENCES:
            said += expanded(run, book.catalogue)
            continue
        found = _sentence(run, book) if kind is _Kind.RUN and len(run) > 1 else None
        said += [_span(span, book) for span in run] if found is None else found
    return tuple(said)


class _Kind(Enum):
    SENTENCES = auto()  # which know of what they are made
    RUN = auto()  # may be one sentence together
    ALONE = auto()


def _kind(span: Span) -> _Kind:
    if isinstance(span.text, Sentence):
        return _Kind.SENTENCES
    return _Kind.ALONE if span.style is Style.BOLD or span.text == "\n" else _Kind.RUN


def _sentence(run: Text, book: Phrasebook) -> list[Span] | None:
    """Return the translation of spans that are one sentence; None if they are not."""
    names = [span for span in run if span.style is not Style.PLAIN]
    if len(names) > len(_TOKENS) or any(_TOKENS & set(span.text) for span in run):
        return None
    tokens = dict(zip(sorted(_TOKENS), names, strict=False))
    left = iter(tokens)
    found = book.find("".join(span.text if span.style is Style.PLAIN else next(left) for span in run))
    if found is None or not set(tokens) <= set(found):
        return None
    pieces = (piece for piece in _BY_TOKEN.split(found) if piece)
    return [_span(tokens[piece], book) if piece in tokens else Span(piece) for piece in pieces]


def _span(span: Span, book: Phrasebook) -> Span:
    """Return the span translated. A heading such as "Next: " keeps its space: chats want it beside bold words."""
    if span.style not in _SAID:
        return span
    said = book.say(span.text)
    return replace(
        span, text=f"{said} " if span.style is Style.BOLD and span.text[-1:] == " " != said[-1:] else said
    )


def _block(block: Block, book: Phrasebook) -> Block:
    match block:
        case Paragraph() | Context():
            return replace(block, text=translated_text(block.text, book))
        case Fields():
            rows = ((book.say(name, "field"), translated_text(value, book)) for name, value in block.rows)
            return replace(block, rows=tuple(rows))
        case Table():
            kept = {number for number, name in enumerate(block.heading) if name in _KEPT}
            cells = tuple(
                tuple(cell if number in kept else book.say(cell) for number, cell in enumerate(row))
                for row in block.rows
            )
            return replace(
                block, heading=tuple(book.say(name, "heading") for name in block.heading), rows=cells
            )
        case Buttons():
            menus = tuple(_menu(menu, book) for menu in block.menus)
            return Buttons(buttons=tuple(_button(button, book) for button in block.buttons), menus=menus)
        case Image():
            return replace(block, alt=book.say(block.alt))
        case Preformatted():  # text from outside stays as it is
            lines = (book.say(line) if isinstance(line, Sentence) else line for line in block.lines)
            return Preformatted(lines=tuple(lines))


def _button(button: Button, book: Phrasebook) -> Button:
    """Return the button with its label translated; a label that is a part of its line is a name."""
    return button if button.label in button.line else replace(button, label=book.say(button.label, "button"))


def _menu(menu: Menu, book: Phrasebook) -> Menu:
    options = tuple(_button(option, book) for option in menu.options)
    return replace(menu, label=book.say(menu.label), options=options)
