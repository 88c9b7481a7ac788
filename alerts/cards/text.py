"""Text: a tuple of spans, so that it is escaped once, where a channel renders it.

A span of a `Sentence` is one that no language was chosen for yet: `sentence_spans.py` makes the
spans that it consists of.
Text from outside cannot become markup. Whatever a span is made of, it is one line: only a span of its own breaks lines.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from alerts.cards.channel_id import kind_and_name
from collectors.facts.one_line import LONGEST, printable
from collectors.facts.redaction import redacted
from collectors.facts.sentences import MOMENT, Sentence, moment_words, unmarked

_NOT_CHATS = frozenset({"token", "automation"})  # kinds of persons that no chat can mention


_CODE = re.compile(r"`([^`\n]+)`")


_MOMENT = re.compile(r"\b(\d{4}-\d\d-\d\d \d\d:\d\d UTC)\b")


class Style(StrEnum):
    PLAIN = "plain"
    BOLD = "bold"
    CODE = "code"
    LINK = "link"  # target is the URL
    GROUP = "group"  # target is the id of the chat's group of people, text the name to show outside the chat
    PERSON = "person"  # target is the chat user's id, text the name to show outside the chat
    CHANNEL = "channel"
    MOMENT = "moment"  # target is an ISO time, text is shown where the channel has no date format


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line, or a line break: `"\\n"` and nothing else."""

    text: str
    style: Style = Style.PLAIN
    target: str = ""

    def __post_init__(self) -> None:
        if self.text != "\n":
            object.__setattr__(self, "text", printable(self.text, LONGEST))
        if self.style is Style.LINK:
            object.__setattr__(self, "target", printable(self.target, LONGEST))


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


def joined(separator: "str | Span", parts: Iterable["str | Span | Text"]) -> Text:
    spans: Text = ()
    for number, part in enumerate(parts):
        spans = text(spans, separator, part) if number else text(part)
    return spans


def split_lines(spans: Text) -> list[Text]:
    """Return the lines of a text, which line breaks part."""
    lines: list[Text] = [()]
    for span in spans:
        if span.text == "\n":
            lines.append(())
        else:
            lines[-1] += (span,)
    return lines


def bold(words: str) -> Span:
    return Span(words, Style.BOLD)


def code(words: str) -> Span:
    return Span(words, Style.CODE)


def link(address: str, words: str) -> Span:
    return Span(words, Style.LINK, address)


def person(id: str, name: str = "") -> Span:
    """Mention a person of a chat by their own id there; one that the chat does not know is shown by its name."""
    kind, own = kind_and_name(id)
    return Span(name or own, Style.PERSON, id if kind in _NOT_CHATS else own)


def group(id: str, name: str) -> Span:
    """Mention a group of people of a chat; one that the chat does not know is shown by its name."""
    return Span(name, Style.GROUP, kind_and_name(id)[1])


def channel(id: str) -> Span:
    """Link a channel; where it cannot be linked its own id is shown."""
    name = kind_and_name(id)[1]
    return Span(name, Style.CHANNEL, name)


def moment(at: datetime, words: str = "") -> Span:
    return Span(words or moment_words(at), Style.MOMENT, at.isoformat())


def plain(spans: Text) -> str:
    """Return the text without markup, for terminals, notifications and tests."""
    return "".join(unmarked(span.text) for span in spans)


def printable_lines(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(printable(line, LONGEST) for line in lines)


def printable_block(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the lines of one text: a secret may have several, such as a private key."""
    shown = printable_lines(lines)
    block = "\n".join(shown)
    safe = redacted(block)
    return shown if safe == block else tuple(safe.split("\n"))


def markup(sentence: str) -> Text:
    """Return the sentence with its backticked words as code, and its moments in the reader's time.

    Nothing else becomes markup, whatever its source. A `Sentence` knows by itself what of it is code.
    """
    if isinstance(sentence, Sentence):
        return text(sentence)
    parts = _CODE.split(sentence)
    return text(*(code(part) if number % 2 else with_moments(part) for number, part in enumerate(parts)))


def with_moments(words: str) -> Text:
    """Return the words with their moments in the reader's time."""
    parts = _MOMENT.split(words)
    return text(*(_moment_of(part) if number % 2 else part for number, part in enumerate(parts)))


def _moment_of(words: str) -> str | Span:
    try:
        return moment(datetime.strptime(words, MOMENT).replace(tzinfo=UTC))
    except ValueError:  # such as the 31st of February
        return words
