"""This file has what is kept of each card and line: what was told, where, and what was meant to be told."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType

from alerts.cards.message import Text

CardId = NewType("CardId", str)


class CardKind(StrEnum):
    """What a card is the state of; `of` is that thing's id."""

    INCIDENT = "incident"
    PLAN = "plan"
    RECLAIM_REQUEST = "reclaim_request"
    LAUNCH = "launch"


def card_id(kind: CardKind, of: str, channel: str) -> CardId:
    return CardId(f"{kind.value}/{of}/{channel}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedCard:
    """A card as the channel has it.

    An intent is written before each post: `intent_at` without `ts` means that nobody knows whether the post
    arrived, and `nonce` is what to look for in the channel's history.
    """

    id: CardId
    cluster: str
    kind: CardKind
    row_id: str
    channel: str
    parent: CardId | None = None  # the card in whose thread it stands
    thread: str = ""  # or the thread's own name, where no card of ours began it
    after_event: int = (
        0  # the event of its incident before which it was not there: the card itself tells those
    )
    nonce: str = ""
    intent_at: datetime | None = None
    message_id: str = ""  # the message's name in the channel, once known
    digest: str = ""  # of the view that the message shows
    posted_at: datetime | None = None
    is_final: bool = False  # nothing more will ever be said
    error: str = ""  # why the channel refused it, if it did

    @property
    def state(self) -> str:
        """For look-ups in the store: live or settled."""
        return "final" if self.is_final else "live"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadReply:
    """A fact that must reach somebody: appended once to a card's thread. `id` is card and event: never twice."""

    id: str
    cluster: str
    card: CardId
    text: Text
    at: datetime
    broadcast: bool = False
    nonce: str = ""
    intent_at: datetime | None = None
    message_id: str = ""
    error: str = ""

    @property
    def state(self) -> str:
        """For look-ups in the store: wanted, told or refused."""
        return "posted" if self.message_id else "refused" if self.error else "pending"


def reply_id(card: CardId, event: str) -> str:
    return f"{card}#{event}"
