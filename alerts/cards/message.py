"""This file has neutral views: what a card, a line or an answer says, before any channel renders it.

Text is a tuple of spans, so that escaping happens once, where a channel renders it, and nothing from
outside can become markup.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Style(StrEnum):
    PLAIN = "plain"
    BOLD = "bold"
    CODE = "code"
    LINK = "link"  # target is the address
    PERSON = "person"  # target is a chat user's id, text the name to show where there is no chat
    CHANNEL = "channel"
    MOMENT = "moment"  # target is an ISO moment, text what to show where the channel has no date format


@dataclass(frozen=True, slots=True)
class Span:
    text: str
    style: Style = Style.PLAIN
    target: str = ""


Text = tuple[Span, ...]


def text(*parts: "str | Span | Text") -> Text:
    """Join strings, spans and texts."""
    spans: list[Span] = []
    for part in parts:
        if isinstance(part, str):
            spans.append(Span(part))
        elif isinstance(part, Span):
            spans.append(part)
        else:
            spans.extend(part)
    return tuple(span for span in spans if span.text or span.target)


def joined(separator: str, parts: Iterable["str | Span | Text"]) -> Text:
    spans: Text = ()
    for number, part in enumerate(parts):
        spans = text(spans, separator, part) if number else text(part)
    return spans


def bold(words: str) -> Span:
    return Span(words, Style.BOLD)


def code(words: str) -> Span:
    return Span(words, Style.CODE)


def link(address: str, words: str) -> Span:
    return Span(words, Style.LINK, address)


def person(id: str, name: str = "") -> Span:
    """A person of the chat; an id that is not one of theirs shows as its name."""
    return Span(name or id, Style.PERSON, id)


def moment(at: datetime, words: str = "") -> Span:
    return Span(words or at.strftime("%Y-%m-%d %H:%M UTC"), Style.MOMENT, at.isoformat())


def plain(spans: Text) -> str:
    """The text without any markup, for terminals, notifications and tests."""
    return "".join(span.text for span in spans)


class Color(StrEnum):
    """The colour of a card."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"
    GOOD = "good"
    BUSY = "busy"  # something is being done
    QUIET = "quiet"  # blind, silenced, cancelled


class ButtonStyle(StrEnum):
    PLAIN = "plain"
    PRIMARY = "primary"
    DANGER = "danger"


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A command line that somebody may press."""

    label: str
    line: str
    style: ButtonStyle = ButtonStyle.PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Name and value, a pair a row."""

    rows: tuple[tuple[str, Text], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preformatted:
    """Words from outside, or a table in fixed width: shown as they are."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under a heading. Channels cut it to what they can show and say how many rows are left out."""

    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0  # rows that were already left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A quiet line at the foot of something."""

    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Buttons:
    buttons: tuple[Button, ...]


Block = Paragraph | Fields | Preformatted | Table | Context | Buttons


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What a card or an answer says. `title` is one line; `summary` is the whole in a sentence, for a notification."""

    title: Text
    color: Color = Color.INFO
    blocks: tuple[Block, ...] = ()
    summary: str = ""
    attachments: tuple["Attachment", ...] = field(default=())

    @property
    def notification(self) -> str:
        return self.summary or plain(self.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """What does not fit: shown as a file."""

    name: str
    content: str


_CODE = re.compile(r"`([^`\n]+)`")


def markup(sentence: str) -> Text:
    """The sentence with its backticked words as code. Nothing else in it becomes markup, wherever it is from."""
    parts = _CODE.split(sentence)
    return text(*(code(part) if number % 2 else part for number, part in enumerate(parts)))
