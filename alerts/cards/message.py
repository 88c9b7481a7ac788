"""Messages: the content of a card, reply or answer, before a channel renders it.

Whatever a cell, a label or a preformatted line is made of, it is one line.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from alerts.cards.incident_facts import IncidentFacts
from alerts.cards.text import Text, plain, printable_block, printable_lines
from collectors.facts.one_line import LONGEST, printable


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
    """A command line suggested as a button, or with `address` a link to a page."""

    label: str
    line: str = ""
    style: ButtonStyle = ButtonStyle.PLAIN
    address: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", printable(self.label, LONGEST))
        object.__setattr__(self, "address", printable(self.address, LONGEST))


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
        object.__setattr__(self, "lines", printable_block(self.lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under a heading. Channels truncate it to what they can show and state how many rows are left out."""

    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int = 0  # rows already left out

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(printable_lines(row) for row in self.rows))


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
    def offered(self) -> frozenset[str]:
        """The command lines of its buttons and menus."""
        found = (block for block in self.blocks if isinstance(block, Buttons))
        return frozenset(one.line for block in found for one in block.flat.buttons if one.line)

    @property
    def notification(self) -> str:
        return printable(self.summary, LONGEST) or plain(self.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Text that does not fit into the message, attached as a file."""

    name: str
    content: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", "\n".join(printable_block(self.content.split("\n"))))
