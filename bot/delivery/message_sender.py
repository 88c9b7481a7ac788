"""Calls of a notifier for one channel: each job's intent is stored before its call, and the outcome after it."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar
from uuid import uuid4

import structlog

from alerts.cards.channel_id import kind_and_name
from alerts.cards.message import Message
from alerts.cards.posted import ThreadReply
from alerts.cards.text import Span, Text, joined, moment, text
from bot.delivery.card_entries import CardEntry, DeliveryJob, DeliveryStep, ReplyEntry
from bot.delivery.fallback import Fallback
from bot.delivery.journal import DeliveryJournal
from bot.delivery.notifier_protocol import (
    Gone,
    Incomplete,
    NewMessage,
    Notifier,
    Recoverable,
    SearchWindow,
    SendError,
    UnknownOutcome,
)
from bot.delivery.notifier_registry import NotifierRegistry
from bot.delivery.rate_limiter import RateLimiter
from bot.delivery.retry import RetryPolicy
from collectors.facts.clock import Clock
from collectors.facts.sentences import sentence

log = structlog.get_logger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryDependencies:
    """What every channel's delivery needs."""

    notifiers: NotifierRegistry
    journal: DeliveryJournal
    fallback: Fallback
    clock: Clock
    retry: RetryPolicy
    may_send: Callable[[], bool]  # whether we still lead, with time to spare
    counts: Counter[str]
    random: Random


class MessageSender:
    """Does the jobs of one channel. Raises SendError, and the store's errors."""

    def __init__(
        self,
        channel: str,
        entries: Mapping[str, CardEntry],
        dependencies: DeliveryDependencies,
        pacer: RateLimiter,
    ) -> None:
        """`pacer`: of the channel's posts. A job begins when it lets one go."""
        _, self._name = kind_and_name(channel)
        self._channel = channel
        self._entries = entries  # the live entries of all channels, owned by the reconciler
        self._deps = dependencies
        self._notifier = dependencies.notifiers.of(channel).notifier
        self._can = self._notifier.capabilities
        self._pacer = pacer

    async def do(self, job: DeliveryJob) -> None:
        match job.step:
            case DeliveryStep.FINALIZE:
                now = self._deps.clock.now()
                await self._deps.journal.finalize(job.entry, now, by_edits=self._can.edit)
            case DeliveryStep.FOLD_REPLIES:
                await self._deps.journal.fold_replies(job.entry)
            case DeliveryStep.POST:
                await self._post(job)
            case DeliveryStep.POST_REPLY:
                await self._post_reply(job)
            case DeliveryStep.EDIT | DeliveryStep.REFRESH:
                await self._edit(job.entry)
            case DeliveryStep.EDIT_REPLY:
                await self._edit_reply(job)
            case DeliveryStep.FIND | DeliveryStep.FIND_REPLY:
                await self._adopt(job)

    async def save(self, job: DeliveryJob, **changes: object) -> bool:
        """Change the row that the job is about. Return False when it is gone."""
        if job.reply is None:
            return await self._deps.journal.save_card(job.entry, **changes)
        return await self._save_replies(job, self._together(job), **changes)

    async def _save_replies(self, job: DeliveryJob, several: Sequence[ReplyEntry], **changes: object) -> bool:
        return await self._deps.journal.save_replies(job.entry, several, **changes)

    def _together(self, job: DeliveryJob) -> list[ReplyEntry]:
        """Return the replies of the job's message, which have its nonce."""
        assert job.reply is not None
        nonce = job.reply.reply.nonce
        return [one for one in job.entry.replies if one is job.reply or (nonce and one.reply.nonce == nonce)]

    def _thread(self, job: DeliveryJob) -> str | None:
        """Return the thread that a card or a reply belongs to."""
        if not self._can.thread:
            return None
        card = job.entry.card
        parent = self._entries.get(card.parent or "")
        above = card.thread or (parent.card.message_id if parent is not None else job.entry.parent_message_id)
        return above or (card.message_id if job.reply is not None else None) or None

    async def _intend(self, job: DeliveryJob, nonce: str, **content: object) -> bool:
        """Store the intent to post, if the message could be found by it. Return False when the row is gone."""
        job.attempts.is_surely_unsent = False
        job.attempts.asked_at = asyncio.get_running_loop().time()
        if not self._can.find:
            return True
        return await self.save(job, nonce=nonce, intent_at=self._deps.clock.now(), **content)

    async def _post(self, job: DeliveryJob) -> None:
        if not await self._is_due(job.entry):
            return
        card, thread = job.entry.card, self._thread(job)
        message, digests = _desired(job.entry)
        nonce = uuid4().hex if card.message_id or not card.nonce else card.nonce
        content = {**digests, **_shown_first(job.entry)}
        if not await self._intend(job, nonce, message_id="", **content):
            return
        try:
            id = await self._send(
                "post",
                lambda notifier: notifier.post(self._name, NewMessage(message, thread=thread, nonce=nonce)),
            )
        except Incomplete as error:
            log.warning("card posted without its files", card=card.id, reason=str(error))
            id, content = error.message_id, {**content, "digest": ""}  # an edit attaches them
        job.entry.shown_at = asyncio.get_running_loop().time()
        await self.save(job, message_id=id, **content, posted_at=self._deps.clock.now(), error="")

    async def _is_due(self, entry: CardEntry) -> bool:
        """Return whether it is still to be posted. An end that waited long may be out of date: it is composed again."""
        message, _ = _desired(entry)
        if message.facts is None or message.facts.resolved_at is None:
            return True
        if not await self._deps.journal.compose_again(entry, self._deps.clock.now()):
            return False
        is_shown = entry.is_shown(entry.card, by_edits=self._can.edit)
        return entry.desired is not None and entry.desired.message is not None and not is_shown

    async def _post_reply(self, job: DeliveryJob) -> None:
        """Post a reply. What waited long is one message: after an outage people read what happened, not a backlog."""
        assert job.reply is not None
        first, thread, now = job.reply.reply, self._thread(job), self._deps.clock.now()
        if 0 < first.event <= job.entry.card.after_event:
            await self._deps.journal.drop_reply(job.entry, job.reply)
            return
        if thread is None:
            await self._refuse(job, sentence("its card was never posted"))
            return
        together = job.entry.together_with(job.reply, now) if self._can.find else [job.reply]
        together = [one for one in together if not 0 < one.reply.event <= job.entry.card.after_event]
        worded = [await self._deps.journal.worded(one.reply) for one in together]
        said = [(one, reply) for one, reply in zip(together, worded, strict=True) if reply.text]
        if not worded[together.index(job.reply)].text:
            await self._refuse(job, sentence("what it says is no longer stored"))
            return
        nonce = first.nonce or uuid4().hex
        job.attempts.is_surely_unsent = False
        job.attempts.asked_at = asyncio.get_running_loop().time()
        several = [one for one, _ in said]
        shown = self._shown([reply for _, reply in said])
        if self._can.find and not await self._save_replies(job, several, nonce=nonce, intent_at=now, **shown):
            return
        content = self._content([reply for _, reply in said])
        broadcast = any(reply.broadcast for _, reply in said)
        try:
            id = await self._send(
                "post",
                lambda notifier: notifier.post(
                    self._name, NewMessage(content, thread=thread, nonce=nonce, broadcast=broadcast)
                ),
            )
        except Incomplete as error:
            log.warning("reply posted without its file", reply=first.id, reason=str(error))
            id = error.message_id
        await self._save_replies(job, several, message_id=id, error="", **shown)

    def _shown(self, replies: Sequence[ThreadReply]) -> dict[str, object]:
        """Return what a message with buttons shows, by the fields of its row: it may be edited later."""
        first = replies[0]
        if len(replies) > 1 or not (first.event and first.buttons and self._can.buttons and self._can.edit):
            return {}
        return {"text": first.text, "buttons": first.buttons, "color": first.color}

    async def _edit_reply(self, job: DeliveryJob) -> None:
        """Take from a reply what its card no longer suggests."""
        assert job.reply is not None
        message, _ = _desired(job.entry)
        reply = job.reply.reply.offering(message.offered)
        await self._send("edit", lambda notifier: notifier.edit(self._name, reply.message_id, reply.message))
        await self._save_replies(job, [job.reply], text=reply.text, buttons=reply.buttons)

    def _content(self, replies: Sequence[ThreadReply]) -> Message | Text:
        """Return what one message says of the replies, each with its time if they are several."""
        if len(replies) == 1:
            return replies[0].content(has_buttons=self._can.buttons)
        return joined(Span("\n"), (text(moment(one.at), ": ", one.text) for one in replies))

    async def _refuse(self, job: DeliveryJob, error: str) -> None:
        """Give a reply up that can never be posted."""
        job.attempts.refused = True
        await self.save(job, error=error, intent_at=None)
        if job.reply in job.entry.replies:  # its row may have been pruned, and its entry with it
            job.entry.replies.remove(job.reply)

    async def _edit(self, entry: CardEntry) -> None:
        message, digests = _desired(entry)
        id = entry.card.message_id
        await self._send("edit", lambda notifier: notifier.edit(self._name, id, message))
        entry.shown_at = asyncio.get_running_loop().time()
        await self._deps.journal.save_card(entry, **digests, posted_at=self._deps.clock.now(), error="")

    async def _adopt(self, job: DeliveryJob) -> None:
        """Search for a message with an unknown outcome: adopt it if it was posted, else allow a new post."""
        row = job.entry.card if job.reply is None else job.reply.reply
        intended, differ = job.intent_at or self._deps.clock.now(), self._deps.retry.clocks_differ
        window = SearchWindow(since=intended - differ, until=intended + differ)
        thread = self._thread(job)
        found = await self._send(
            "find", lambda notifier: notifier.find(self._name, row.nonce, window, thread)
        )
        if not found:
            await self.save(job, intent_at=None)
            return
        oldest, *duplicates = found
        for duplicate in duplicates:  # removed first, so that after a crash they are found again
            await self._remove(duplicate)
        self._deps.counts["adopted"] += 1
        # What posted a card may have died before it attached its files: an edit attaches what is missing.
        unattached = {"digest": ""} if job.reply is None and self._can.edit else {}
        await self.save(job, message_id=oldest, error="", **unattached)

    async def _remove(self, message_id: str) -> None:
        self._deps.counts["duplicates"] += 1
        try:
            await self._send("delete", lambda notifier: notifier.delete(self._name, message_id))
        except Gone:
            return

    async def _send(self, method: str, call: Callable[[Notifier], Awaitable[T]]) -> T:
        if not self._deps.may_send():
            raise Recoverable(sentence("this process is no longer the leader"))
        if method == "post":
            self._pacer.take()  # now: the chat counts what arrives, and its intent took a while to store
        self._deps.counts[method] += 1
        try:
            async with asyncio.timeout(self._deps.retry.answer.total_seconds()):
                return await call(self._notifier)
        except SendError:
            raise
        except TimeoutError as error:
            raise UnknownOutcome(
                sentence("no answer to {method} in {channel}", method=method, channel=self._channel)
            ) from error
        except Exception as error:  # one card's bug must not stop the others
            log.exception("delivery failed unexpectedly", method=method, channel=self._channel)
            raise UnknownOutcome(
                sentence(
                    "{method} in {channel} failed: {error}",
                    method=method,
                    channel=self._channel,
                    error=type(error).__name__,
                )
            ) from error


def _shown_first(entry: CardEntry) -> dict[str, int]:
    """Return up to which event there are no replies, by the field of the card's row: its first message shows them."""
    if entry.card.message_id or entry.card.posted_at is not None or entry.desired is None:
        return {}
    return {"after_event": max(entry.card.after_event, entry.desired.last_event)}


def _desired(entry: CardEntry) -> tuple[Message, dict[str, str]]:
    """Return the message to show and its digests, by their fields of the card's row."""
    assert entry.desired is not None
    assert entry.desired.message is not None  # else there is no such job
    return entry.desired.message, {"digest": entry.digest, "state_digest": entry.state_digest}
