"""Records of posted cards and thread replies: what each channel shows, and which posts are unconfirmed."""

from collections.abc import Container
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import NewType, Protocol

from alerts.cards.message import Button, Buttons, Color, Message, Paragraph
from alerts.cards.text import Span, Text, joined, split_lines
from alerts.store import stored

CardId = NewType("CardId", str)


class CardKind(StrEnum):
    """The kind of object whose state a card shows."""

    INCIDENT = "incident"
    PARENT = "parent"
    PLAN = "plan"
    RECLAIM_REQUEST = "reclaim_request"
    LAUNCH = "launch"
    TRAINING_NOTICE = "training_notice"
    WINDOW = "window"
    REMEDIATION = "remediation"
    BREAKER = "breaker"
    DAILY_LEASES = "daily_leases"
    LOG_FOLLOW = "log_follow"


def card_id(kind: CardKind, of: str, channel: str) -> CardId:
    """Return the id of a card. Raises ValueError without a channel: such a card could never be posted."""
    if not channel:
        raise ValueError(f"the card of {kind.value} {of} has no channel")
    return CardId(f"{kind.value}/{of}/{channel}")


def _over_at(card: "PostedCard") -> datetime | None:
    return (card.posted_at or card.intent_at) if card.is_final else None


@stored("cards", "cluster", "state", "kind", "row_id", "channel", over=_over_at)
@dataclass(frozen=True, slots=True, kw_only=True)
class PostedCard:
    """A card as its channel shows it.

    An intent is stored before each post: `intent_at` without `message_id` means that the post's outcome is
    unknown, and `nonce` is what to search for in the channel's history.
    """

    id: CardId
    cluster: str
    kind: CardKind
    row_id: str
    channel: str  # as in channel_id.py
    parent: CardId | None = None  # the card whose thread contains this one
    thread: str = ""  # or the id of the thread, if none of our cards started it
    after_event: int = 0  # the last event that its first message showed: up to it there are no replies
    nonce: str = ""
    intent_at: datetime | None = None
    message_id: str = ""  # the message's id in the channel, once known
    digest: str = ""  # of the content that the message shows
    state_digest: str = ""  # of the same without its figures
    posted_at: datetime | None = None
    is_final: bool = False  # no more updates follow, unless it is reopened
    error: str = ""  # why the channel refused it, if so
    instead_of: str = ""  # the channel that could not show it, if this is a card of the fallback

    @property
    def state(self) -> str:
        """Indexed in the store: live or final."""
        return "final" if self.is_final else "live"


@stored("replies", "cluster", "state", "card", goes_with=("card", "cards"))
@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadReply:
    """A notification in a card's thread. `id` is the card and the event, so it is never posted twice.

    One of an incident's `event` gets its words when it is posted; without one it has its own. If it is posted with
    buttons, it keeps what it shows, and its buttons are those that its card still suggests.
    """

    id: str
    cluster: str
    card: CardId
    text: Text = ()
    at: datetime
    event: int = 0  # its number within the incident
    broadcast: bool = False
    buttons: tuple[Button, ...] = ()
    color: Color = Color.INFO  # beside its buttons
    nonce: str = ""
    intent_at: datetime | None = None
    message_id: str = ""
    error: str = ""

    def content(self, *, has_buttons: bool) -> Message | Text:
        """Return what to post: a message if the channel shows its buttons, else its text."""
        return self.message if self.buttons and has_buttons else self.text

    @property
    def message(self) -> Message:
        """What it shows, as a message; without its buttons once nothing of it is suggested any more."""
        lines = split_lines(self.text)
        more = [Paragraph(text=joined(Span("\n"), lines[1:]))] if len(lines) > 1 else []
        row = [Buttons(buttons=self.buttons)] if self.buttons else []
        return Message(title=lines[0], color=self.color, blocks=(*more, *row))

    @property
    def follows_its_card(self) -> bool:
        """Whether it was posted with suggestions of its card, which leave it when they leave the card."""
        return bool(self.event and self.message_id and self.buttons)

    def offering(self, lines: Container[str]) -> "ThreadReply":
        """Return it without the buttons that are no longer suggested, and without the lines that name one of them."""
        gone = {one.label for one in self.buttons if one.line and one.line not in lines}
        if not gone:
            return self
        left = tuple(one for one in self.buttons if one.label not in gone)
        said = [line for line in split_lines(self.text) if not any(span.text in gone for span in line)]
        return replace(self, text=joined(Span("\n"), said), buttons=left)

    @property
    def state(self) -> str:
        """Indexed in the store: pending, posted or refused."""
        return "posted" if self.message_id else "refused" if self.error else "pending"


@stored("card_images", "cluster", "card", goes_with=("card", "cards"))
@dataclass(frozen=True, slots=True, kw_only=True)
class CardImage:
    """The chart on an incident's card. `id` is the card's, so that a later one takes its place."""

    id: CardId
    cluster: str
    card: CardId
    incident: str
    file: str  # its id in the channel
    alt: str
    resolved_at: datetime | None  # of the incident when it was drawn


class RowWithCard(Protocol):
    """A row of one cluster whose state a card shows."""

    @property
    def id(self) -> str: ...

    @property
    def cluster(self) -> str: ...


def new_card(
    kind: CardKind,
    row: RowWithCard,
    channel: str,
    *,
    parent: CardId | None = None,
    thread: str = "",
    after_event: int = 0,
) -> PostedCard:
    """Return the card of a row in a channel, which is not posted yet."""
    return PostedCard(
        id=card_id(kind, row.id, channel),
        cluster=row.cluster,
        kind=kind,
        row_id=row.id,
        channel=channel,
        parent=parent,
        thread=thread,
        after_event=after_event,
    )


def reply_id(card: CardId, event: str) -> str:
    return f"{card}#{event}"
