"""The next action for a card: pure functions of its entry."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum
from hashlib import blake2b
from itertools import islice

import msgspec

from alerts.cards.figures import card_state
from alerts.cards.message import Color, Message
from alerts.cards.posted import PostedCard, ThreadReply
from bot.cards.card_kind import Composed
from bot.delivery.notifier_protocol import Capabilities
from bot.delivery.retry import Attempts
from collectors.facts.sentences import english

REFRESH_EVERY = timedelta(minutes=1)  # how often a card is edited for nothing but its figures
EDIT_EVERY = timedelta(seconds=1)  # and at all: the steps of a plan may take milliseconds
LATE = timedelta(
    minutes=1
)  # a reply that waited so long is posted with those that wait after it, as one message
MOST_TOGETHER = 20


def digest_of(message: Message) -> str:
    """Return 16 hex digits over the whole message, or the state of its facts: then nothing else is worth a post."""
    return _digest(message if message.facts is None else message.facts.state)


def state_digest_of(message: Message) -> str:
    """Return 16 hex digits over what the message says besides its figures."""
    return _digest(card_state(message) if message.facts is None else message.facts.state)


def _digest(shown: object) -> str:
    return blake2b(msgspec.json.encode(shown, enc_hook=english), digest_size=8).hexdigest()


_URGENCY = {Color.CRITICAL: 0, Color.WARNING: 1, Color.BUSY: 2, Color.INFO: 3, Color.GOOD: 4, Color.QUIET: 5}


class Urgency(IntEnum):
    """What goes first: what is critical, and last what nobody has to act on, such as ends and figures."""

    CRITICAL = 0
    NORMAL = 1
    HOUSEKEEPING = 2


class DeliveryStep(IntEnum):
    """The possible steps, most urgent first: a new card, a reply, an edit of the state, of a reply, then of figures."""

    FINALIZE = 0  # in the store only, and so is the next
    FOLD_REPLIES = 1
    FIND = 2
    POST = 3
    FIND_REPLY = 4
    POST_REPLY = 5
    EDIT = 6
    EDIT_REPLY = 7
    REFRESH = 8


METHOD = {  # the others call nothing
    DeliveryStep.FIND: "find",
    DeliveryStep.FIND_REPLY: "find",
    DeliveryStep.POST: "post",
    DeliveryStep.POST_REPLY: "post",
    DeliveryStep.EDIT: "edit",
    DeliveryStep.EDIT_REPLY: "edit",
    DeliveryStep.REFRESH: "edit",
}


@dataclass(slots=True, kw_only=True)
class ReplyEntry:
    reply: ThreadReply
    known_at: float  # loop time
    attempts: Attempts = field(default_factory=Attempts)

    @property
    def may_be_joined(self) -> bool:
        """Whether it may be said in one message with others: nothing of it was posted, or refused for its content.

        The buttons of an event's are those of an earlier attempt: it is composed again.
        """
        has_own_buttons = self.reply.buttons and not self.reply.event
        return not (self.attempts.refused or self.reply.nonce or has_own_buttons)


@dataclass(slots=True, kw_only=True)
class CardEntry:
    """A card in delivery: its row as stored, and its desired state."""

    card: PostedCard
    order: int
    desired: Composed | None = None
    digest: str = ""  # of the desired message
    state_digest: str = ""  # of the same without its figures
    shown_at: float | None = None  # when it was last posted or edited, in loop time
    is_stale: bool = True  # must be composed again
    failures: int = 0  # in a row, to compose it
    due: datetime | None = None  # when it changes by itself, by the wall clock
    retry_at: float | None = None  # when to compose it again after a failure, in loop time
    parent_message_id: str | None = None  # of a parent that is no longer live
    replies: list[ReplyEntry] = field(default_factory=list)
    posted_replies: list[ReplyEntry] = field(default_factory=list)  # with buttons, which follow the card's
    attempts: Attempts = field(default_factory=Attempts)

    @property
    def is_over(self) -> bool:
        return self.card.is_final and not self.replies

    @property
    def is_news(self) -> bool:
        """Whether its channel does not show the state that it should show."""
        return (
            self.desired is not None
            and self.desired.message is not None
            and not self.is_shown(self.card, by_edits=False)
        )

    def show(self, composed: Composed, now: datetime) -> None:
        """Take what the card should show from now on."""
        self.due = composed.due_after(now)
        self.show_message(composed)

    def show_message(self, composed: Composed) -> None:
        """Take the message alone: when it is composed again stays as it is."""
        self.desired, message = composed, composed.message
        self.digest = "" if message is None else digest_of(message)
        self.state_digest = "" if message is None else state_digest_of(message)

    def is_shown(self, card: PostedCard, *, by_edits: bool) -> bool:
        """Return whether the posted card needs no other message. Without edits a figure is not worth one."""
        if self.desired is not None and self.desired.is_only_an_edit and not card.message_id:
            return True
        same = card.digest == self.digest if by_edits else card.state_digest == self.state_digest
        return bool(card.message_id) and same

    def together_with(self, first: ReplyEntry, now: datetime) -> list[ReplyEntry]:
        """Return the replies that one message says: this one, and what waits with it if it is late.

        Those of a message that may have been posted already stay together.
        """
        if first.reply.nonce:
            return [one for one in self.replies if one.reply.nonce == first.reply.nonce]
        if now - first.reply.at < LATE or not first.may_be_joined:
            return [first]
        others = (one for one in self.replies if one.may_be_joined and one is not first)
        return [first, *islice(others, MOST_TOGETHER - 1)]

    def next_reply(self) -> ReplyEntry | None:
        """Return the next reply to post. A refused one lets the others pass; of those, one waited longest."""
        waiting = next((one for one in self.replies if not one.attempts.refused), None)
        return waiting or min(self.replies, key=lambda one: one.attempts.not_before, default=None)

    def outdated_reply(self) -> ReplyEntry | None:
        """Return the next posted reply that suggests what the card no longer suggests."""
        message = self.desired.message if self.desired is not None else None
        if message is None or not self.posted_replies:
            return None
        offered = message.offered
        outdated = [one for one in self.posted_replies if one.reply.offering(offered) != one.reply]
        return min(outdated, key=lambda one: one.attempts.not_before, default=None)

    def keep_posted(self, several: Iterable[ReplyEntry]) -> None:
        """Take replies from those to be posted, and keep what may have to be edited."""
        done = list(several)
        self.replies = [other for other in self.replies if other not in done]
        others = (one for one in self.posted_replies if one not in done)
        self.posted_replies = [*others, *(one for one in done if one.reply.follows_its_card)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryJob:
    step: DeliveryStep
    entry: CardEntry
    reply: ReplyEntry | None = None

    @property
    def attempts(self) -> Attempts:
        return self.reply.attempts if self.reply is not None else self.entry.attempts

    @property
    def method(self) -> str:
        """The notifier's method that it calls; empty for none."""
        return METHOD.get(self.step, "")

    @property
    def intent_at(self) -> datetime | None:
        return self.reply.reply.intent_at if self.reply is not None else self.entry.card.intent_at

    @property
    def is_critical(self) -> bool:
        message = self.entry.desired.message if self.entry.desired else None
        return message is not None and message.color is Color.CRITICAL

    @property
    def is_refresh(self) -> bool:
        return self.step is DeliveryStep.REFRESH

    @property
    def urgency(self) -> Urgency:
        """That of the card; what calls nothing waits for nobody."""
        message = self.entry.desired.message if self.entry.desired else None
        if not self.method or (
            message is not None and message.color is Color.CRITICAL and not self.is_refresh
        ):
            return Urgency.CRITICAL
        is_over = message is not None and message.color in (Color.GOOD, Color.QUIET)
        return Urgency.HOUSEKEEPING if is_over or self.is_refresh else Urgency.NORMAL

    @property
    def rank(self) -> tuple[int, int, int, str, int]:
        """Smaller ranks go first; of equal edits, the card that waited longest."""
        entry = self.entry
        message = entry.desired.message if entry.desired else None
        color = _URGENCY[message.color] if message is not None else len(_URGENCY)
        waited = (
            entry.card.posted_at.isoformat()
            if self.step >= DeliveryStep.EDIT and entry.card.posted_at
            else ""
        )
        return (self.urgency, self.step, color, waited, entry.order)


def pending_jobs(
    entry: CardEntry, capabilities: Capabilities, *, is_parent_known: bool
) -> Iterable[DeliveryJob]:
    """Yield the jobs for a card and its replies, due now or later."""
    outdated = entry.outdated_reply() if capabilities.edit and not entry.card.is_final else None
    if outdated is not None:
        yield DeliveryJob(step=DeliveryStep.EDIT_REPLY, entry=entry, reply=outdated)
    step = _card_step(entry, capabilities, is_parent_known=is_parent_known or not capabilities.thread)
    if step is DeliveryStep.FINALIZE and outdated is not None:
        step = None
    if step is not None:
        yield DeliveryJob(step=step, entry=entry)
    reply = entry.next_reply()
    if reply is None or not (entry.card.message_id or entry.card.is_final):
        return
    if not capabilities.thread:
        yield DeliveryJob(step=DeliveryStep.FOLD_REPLIES, entry=entry)
    elif capabilities.find and reply.reply.intent_at is not None and not reply.attempts.is_surely_unsent:
        yield DeliveryJob(step=DeliveryStep.FIND_REPLY, entry=entry, reply=reply)
    else:
        yield DeliveryJob(step=DeliveryStep.POST_REPLY, entry=entry, reply=reply)


def _card_step(entry: CardEntry, capabilities: Capabilities, *, is_parent_known: bool) -> DeliveryStep | None:
    card, desired = entry.card, entry.desired
    if card.is_final or desired is None:
        return None
    is_unknown = not card.message_id and card.intent_at is not None and not entry.attempts.is_surely_unsent
    if is_unknown and capabilities.find:
        return DeliveryStep.FIND
    if desired.message is None or entry.is_shown(card, by_edits=capabilities.edit):
        return DeliveryStep.FINALIZE if desired.is_final else None
    if card.message_id and capabilities.edit:
        is_same_state = card.state_digest == entry.state_digest
        return DeliveryStep.REFRESH if is_same_state else DeliveryStep.EDIT
    return DeliveryStep.POST if is_parent_known else None
