"""Figures: the parts of a message that only count. A new state is shown at once, a new figure only now and then.

A figure is a bare number in running words, with its unit: "109 °C", "3 of 8". A name that has digits (gpu-a02), code, a
moment or a button is not a figure: those are state. What is quoted in fixed width is state only by being there, because
newer lines replace it.
"""

import re
from dataclasses import replace

from alerts.cards.message import Block, Context, Fields, Message, Paragraph, Preformatted, Table
from alerts.cards.sentence_spans import expanded
from alerts.cards.text import Style, Text

_ANY = "#"  # stands for a figure
_WORD = re.compile(r"\S+")
_FIGURE = re.compile(r"[(+~≈<>=-]*\d[\d.,/]*[A-Za-zµ°%]{0,4}[%),.;:…]*")
_RUNNING = (Style.PLAIN, Style.BOLD)


def without_figures(message: Message) -> Message:
    """Return what two messages have in common that differ in figures only. It is compared, never shown."""
    return replace(
        message,
        title=_text(message.title),
        blocks=tuple(map(_block, message.blocks)),
        summary="",  # the title says the same, and an edit notifies nobody
        attachments=(),
    )


def _block(block: Block) -> Block:
    match block:
        case Paragraph() | Context():
            return replace(block, text=_text(block.text))
        case Fields():
            return replace(block, rows=tuple((name, _text(value)) for name, value in block.rows))
        case Table():
            rows = tuple(tuple(map(_words, row)) for row in block.rows)
            return replace(block, rows=rows, more=bool(block.more))
        case Preformatted():
            return Preformatted(lines=(_ANY,) if block.lines else ())
        case _:
            return block


def _text(text: Text) -> Text:
    return tuple(
        replace(span, text=_words(span.text)) if span.style in _RUNNING else span for span in expanded(text)
    )


def _words(words: str) -> str:
    if not any(map(str.isdigit, words)):
        return words
    return _WORD.sub(lambda word: _ANY if _FIGURE.fullmatch(word[0]) else word[0], words)
