"""Messages: the content of a card, reply or answer, before a channel renders it.

Text is a tuple of spans, so that it is escaped once, where a channel renders it, and text from outside
cannot become markup. Whatever a span, a cell or a preformatted line is made of, it is one line: only a span of its own
breaks lines.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum

from alerts.cards.channel_id import kind_and_name
from alerts.cards.incident_facts import IncidentFacts
from collectors.facts.one_line import LONGEST, printable


class Style(StrEnum):
    PLAIN = "plain"
    BOLD = "bold"
    CODE = "code"
    LINK = "link"  # target is the URL
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
    """Mention a person of the chat; an id that the chat does not know is shown by its name."""
    return Span(name or id, Style.PERSON, id)


def channel(id: str) -> Span:
    """Link a channel; where it cannot be linked its own id is shown."""
    name = kind_and_name(id)[1]
    return Span(name, Style.CHANNEL, name)


def moment(at: datetime, words: str = "") -> Span:
    return Span(words or moment_words(at), Style.MOMENT, at.isoformat())


def plain(spans: Text) -> str:
    """Return the text without markup, for terminals, notifications and tests."""
    return "".join(span.text for span in spans)


class Color(StrEnum):
    """The color of a card."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"
    GOOD = "good"
    BUSY = "busy"  # an action is in progress
    QUIET = "quiet"  # blind, silenced or cancelled


class ButtonStyle(StrEnum):
    PLAIN = "plain"
    PRIMARY = "primary"
    DANGER = "danger"


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A command line offered as a button, or with `address` a link to a page."""

    label: str
    line: str = ""
    style: ButtonStyle = ButtonStyle.PLAIN
    address: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", printable(self.label, LONGEST))


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Rows of a name and its value."""

    rows: tuple[tuple[str, Text], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preformatted:
    """Text from outside or a fixed-width table, shown unchanged."""

    lines: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", _printable(self.lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under a heading. Channels truncate it to what they can show and state how many rows are left out."""

    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0  # rows already left out

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(_printable(row) for row in self.rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A line of secondary text, mostly at the end."""

    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    """Buttons behind one label. `is_more`: those that are rarely needed.

    With `people_line` it is a menu of the chat's people: choosing one runs this line with the person's id at its end.
    """

    label: str
    options: tuple[Button, ...] = ()
    is_more: bool = False
    people_line: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Buttons:
    """A row of buttons, and the menus after them."""

    buttons: tuple[Button, ...] = ()
    menus: tuple[Menu, ...] = ()

    @property
    def is_needed(self) -> bool:
        return bool(self.buttons or self.menus)

    @property
    def flat(self) -> "Buttons":
        """The same without menus: their options are buttons. A menu of people has none, so it is left out."""
        options = (
            replace(one, label=one.label if menu.is_more else f"{menu.label}: {one.label}")
            for menu in self.menus
            for one in menu.options
        )
        return Buttons(buttons=(*self.buttons, *options))

    def with_lines(self, change: Callable[[str], str]) -> "Buttons":
        """Return the same with each command line changed; links stay."""

        def changed(button: Button) -> Button:
            return replace(button, line=change(button.line)) if button.line else button

        menus = (
            replace(
                menu,
                options=tuple(map(changed, menu.options)),
                people_line=change(menu.people_line) if menu.people_line else "",
            )
            for menu in self.menus
        )
        return Buttons(buttons=tuple(map(changed, self.buttons)), menus=tuple(menus))


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture that was uploaded to the card's channel: its id there, and what it shows in words."""

    file: str
    alt: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "alt", printable(self.alt, LONGEST))


Block = Paragraph | Fields | Preformatted | Table | Context | Buttons | Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A card, reply or answer. `title` is one line; `summary` is the whole in one sentence, for the notification.

    `facts`: what an incident's card is about, only where its channel wants facts rather than words.
    `is_document`: title and blocks are a page in the language that it was written in, which is not translated.
    """

    title: Text
    color: Color = Color.INFO
    blocks: tuple[Block, ...] = ()
    summary: str = ""
    attachments: tuple["Attachment", ...] = field(default=())
    facts: IncidentFacts | None = None
    is_document: bool = False

    @property
    def without_buttons(self) -> "Message":
        """The same message for a channel that has none."""
        return replace(self, blocks=tuple(block for block in self.blocks if not isinstance(block, Buttons)))

    @property
    def without_menus(self) -> "Message":
        """The same message for a channel that has buttons only."""
        flat = (block.flat if isinstance(block, Buttons) else block for block in self.blocks)
        return replace(self, blocks=tuple(flat))

    @property
    def notification(self) -> str:
        return printable(self.summary, LONGEST) or plain(self.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Text that does not fit into the message, attached as a file."""

    name: str
    content: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", "\n".join(_printable(self.content.split("\n"))))


def _printable(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(printable(line, LONGEST) for line in lines)


_MOMENT_WORDS = "%Y-%m-%d %H:%M UTC"
_CODE = re.compile(r"`([^`\n]+)`")
_MOMENT = re.compile(r"\b(\d{4}-\d\d-\d\d \d\d:\d\d UTC)\b")


def moment_words(at: datetime) -> str:
    """Return the moment for a stored sentence, in which `markup` finds it again."""
    return at.astimezone(UTC).strftime(_MOMENT_WORDS)


def markup(sentence: str) -> Text:
    """Return the sentence with its backticked words as code, and its moments in the reader's time.

    Nothing else becomes markup, whatever its source.
    """
    parts = _CODE.split(sentence)
    return text(*(code(part) if number % 2 else with_moments(part) for number, part in enumerate(parts)))


def with_moments(words: str) -> Text:
    """Return the words with their moments in the reader's time."""
    parts = _MOMENT.split(words)
    return text(*(_moment_of(part) if number % 2 else part for number, part in enumerate(parts)))


def _moment_of(words: str) -> str | Span:
    try:
        return moment(datetime.strptime(words, _MOMENT_WORDS).replace(tzinfo=UTC))
    except ValueError:  # such as the 31st of February
        return words
