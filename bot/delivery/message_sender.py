"""Calls of a notifier for one channel: each job's intent is stored before its call, and the outcome after it."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import TypeVar
from uuid import uuid4

import structlog

from alerts.cards.channel_id import kind_and_name
from alerts.cards.message import Message
from bot.delivery.card_entries import CardEntry, DeliveryJob, DeliveryStep
from bot.delivery.journal import DeliveryJournal
from bot.delivery.notifier_protocol import (
    Duplicates,
    Gone,
    Notifier,
    Recoverable,
    SearchWindow,
    SendError,
    UnknownOutcome,
)
from bot.delivery.notifier_registry import NotifierRegistry
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
    clock: Clock
    retry: RetryPolicy
    may_send: Callable[[], bool]  # whether we still lead, with time to spare
    counts: Counter[str]
    random: Random


class MessageSender:
    """Does the jobs of one channel. Raises SendError, and the store's errors."""

    def __init__(
        self, channel: str, entries: Mapping[str, CardEntry], dependencies: DeliveryDependencies
    ) -> None:
        _, self._name = kind_and_name(channel)
        self._channel = channel
        self._entries = entries  # the live entries of all channels, owned by the reconciler
        self._deps = dependencies
        self._notifier = dependencies.notifiers.of(channel).notifier
        self._can = self._notifier.capabilities

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
            case DeliveryStep.FIND | DeliveryStep.FIND_REPLY:
                await self._adopt(job)

    async def save(self, job: DeliveryJob, **changes: object) -> bool:
        """Change the row that the job is about. Return False when it is gone."""
        journal = self._deps.journal
        if job.reply is None:
            return await journal.save_card(job.entry, **changes)
        return await journal.save_reply(job.entry, job.reply, **changes)

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
        id = await self._send(
            "post", lambda notifier: notifier.post(self._name, message, thread=thread, nonce=nonce)
        )
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
        assert job.reply is not None
        reply, thread = job.reply.reply, self._thread(job)
        if 0 < reply.event <= job.entry.card.after_event:
            await self._deps.journal.drop_reply(job.entry, job.reply)
            return
        if thread is None:
            await self._refuse(job, sentence("its card was never posted"))
            return
        reply = await self._deps.journal.worded(reply)
        if not reply.text:
            await self._refuse(job, sentence("what it says is no longer stored"))
            return
        nonce = reply.nonce or uuid4().hex
        if not await self._intend(job, nonce):
            return
        id = await self._send(
            "post",
            lambda notifier: notifier.post(
                self._name,
                reply.content(has_buttons=self._can.buttons),
                thread=thread,
                nonce=nonce,
                broadcast=reply.broadcast,
            ),
        )
        await self.save(job, message_id=id, error="")

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
        if found is None:
            await self.save(job, intent_at=None)
            return
        if isinstance(found, Duplicates):  # removed first, so that after a crash they are found again
            for younger in found.younger:
                await self._remove(younger)
            found = found.oldest
        self._deps.counts["adopted"] += 1
        await self.save(job, message_id=found, error="")

    async def _remove(self, message_id: str) -> None:
        self._deps.counts["duplicates"] += 1
        try:
            await self._send("delete", lambda notifier: notifier.delete(self._name, message_id))
        except Gone:
            return

    async def _send(self, method: str, call: Callable[[Notifier], Awaitable[T]]) -> T:
        if not self._deps.may_send():
            raise Recoverable(sentence("this process is no longer the leader"))
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
