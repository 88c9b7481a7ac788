"""This file decides what is to be done next for a card: pure look-ups on what is known of it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from hashlib import blake2b

import msgspec

from alerts.cards.message import Color, Message
from alerts.cards.posted import CardKind, PostedCard, ThreadReply
from bot.delivery.retry import Attempts
from commands.store import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """What a card should show now: None for nothing. `next_due` is when that changes without any row changing."""

    message: Message | None
    is_final: bool = False  # nothing more will ever be said
    next_due: datetime | None = None

    def due_after(self, now: datetime) -> datetime | None:
        """When it is to be composed again; what is past counts no more, or it would be waited for without a pause."""
        return self.next_due if self.next_due is not None and self.next_due > now else None


Composer = Callable[[PostedCard, Unit, datetime], Awaitable[Composed]]
Composers = Mapping[CardKind, Composer]


def digest_of(message: Message) -> str:
    """16 hex digits over all that the view says."""
    return blake2b(msgspec.json.encode(message), digest_size=8).hexdigest()


_URGENCY = {Color.CRITICAL: 0, Color.WARNING: 1, Color.BUSY: 2, Color.INFO: 3, Color.GOOD: 4, Color.QUIET: 5}


class DeliveryStep(IntEnum):
    """What can be done, the most pressing first: a new card, a line, an edit."""

    FINALIZE = 0  # only in our store
    FIND = 1
    POST = 2
    FIND_REPLY = 3
    POST_REPLY = 4
    EDIT = 5


METHOD = {
    DeliveryStep.FIND: "find",
    DeliveryStep.FIND_REPLY: "find",
    DeliveryStep.POST: "post",
    DeliveryStep.POST_REPLY: "post",
    DeliveryStep.EDIT: "edit",
}


@dataclass(slots=True, kw_only=True)
class ReplyEntry:
    reply: ThreadReply
    attempts: Attempts = field(default_factory=Attempts)


@dataclass(slots=True, kw_only=True)
class CardEntry:
    """A card that is being told: the row as it is on disk, and what is wanted of it."""

    card: PostedCard
    order: int
    desired: Composed | None = None
    digest: str = ""  # of the wanted view
    is_stale: bool = True  # to be composed again
    due: datetime | None = None
    parent_message_id: str | None = None  # of a parent that is not live any more
    replies: list[ReplyEntry] = field(default_factory=list)
    attempts: Attempts = field(default_factory=Attempts)

    @property
    def is_over(self) -> bool:
        return self.card.is_final and not self.replies

    def next_reply(self) -> ReplyEntry | None:
        """The line whose turn it is. One that was refused lets the others pass."""
        return next((one for one in self.replies if not one.attempts.refused), next(iter(self.replies), None))


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryJob:
    step: DeliveryStep
    entry: CardEntry
    reply: ReplyEntry | None = None

    @property
    def attempts(self) -> Attempts:
        return self.reply.attempts if self.reply is not None else self.entry.attempts

    @property
    def intent_at(self) -> datetime | None:
        return self.reply.reply.intent_at if self.reply is not None else self.entry.card.intent_at

    @property
    def rank(self) -> tuple[int, int, str, int]:
        """Smaller goes first. Of equal edits, the card that waited longest."""
        entry = self.entry
        message = entry.desired.message if entry.desired else None
        urgency = _URGENCY[message.color] if message is not None else len(_URGENCY)
        waited = (
            entry.card.posted_at.isoformat()
            if self.step is DeliveryStep.EDIT and entry.card.posted_at
            else ""
        )
        return (self.step, urgency, waited, entry.order)


def pending_jobs(entry: CardEntry, *, is_parent_known: bool) -> Iterable[DeliveryJob]:
    """What is to be done for a card and its lines, at once or later."""
    step = _card_step(entry, is_parent_known=is_parent_known)
    if step is not None:
        yield DeliveryJob(step=step, entry=entry)
    line = entry.next_reply()
    if line is not None and (entry.card.message_id or entry.card.is_final):
        in_doubt = line.reply.intent_at is not None and not line.attempts.is_surely_unsent
        yield DeliveryJob(
            step=DeliveryStep.FIND_REPLY if in_doubt else DeliveryStep.POST_REPLY, entry=entry, reply=line
        )


def _card_step(entry: CardEntry, *, is_parent_known: bool) -> DeliveryStep | None:
    card, wanted = entry.card, entry.desired
    if card.is_final or wanted is None:
        return None
    if not card.message_id and card.intent_at is not None and not entry.attempts.is_surely_unsent:
        return DeliveryStep.FIND
    if wanted.message is None or (card.message_id and card.digest == entry.digest):
        return DeliveryStep.FINALIZE if wanted.is_final else None
    if card.message_id:
        return DeliveryStep.EDIT
    return DeliveryStep.POST if is_parent_known else None
