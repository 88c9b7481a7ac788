"""Delivery to one channel: one call at a time, the most urgent first."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import TypeVar
from uuid import uuid4

import structlog

from alerts.cards.message import Message
from bot.delivery.card_entries import METHOD, CardEntry, DeliveryJob, DeliveryStep, pending_jobs
from bot.delivery.journal import DeliveryJournal
from bot.delivery.notifier_protocol import (
    Duplicates,
    Gone,
    Notifier,
    Permanent,
    Recoverable,
    Refuses,
    SendError,
    UnknownOutcome,
)
from bot.delivery.rate_limiter import DeliveryPolicy, RateLimiter
from bot.delivery.retry import TIMER_TOLERANCE, Attempts
from collectors.facts.clock import Clock

log = structlog.get_logger(__name__)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerDependencies:
    """What every channel's worker needs."""

    notifier: Notifier
    journal: DeliveryJournal
    clock: Clock
    policy: DeliveryPolicy
    method_limiters: Mapping[str, RateLimiter]
    may_send: Callable[[], bool]  # whether we still lead, with time to spare
    counts: Counter[str]
    random: Random
    on_success: Callable[[], None] = lambda: None  # after each call that the chat answered as we wanted


class ChannelWorker:
    """Works until nothing is left to deliver to its channel."""

    def __init__(
        self, channel: str, entries: Mapping[str, CardEntry], dependencies: WorkerDependencies
    ) -> None:
        self.channel = channel
        self.awake = asyncio.Event()
        self._entries = entries  # the live entries of all channels, owned by the reconciler
        self._deps = dependencies
        self._rate_limiter = RateLimiter(dependencies.policy.rate_limits.channel)
        self._refused_at = 0.0  # loop time
        self.refused_by = Refuses.MESSAGE  # CHANNEL or CHAT since `_refused_at`, until something works again

    def retry_now(self) -> None:
        """Retry what the channel or the chat refused without the pause: somebody may have fixed it."""
        self.refused_by = Refuses.MESSAGE
        self.awake.set()

    async def run(self, drop: Callable[[CardEntry], None]) -> None:
        """Deliver and wait until no entry is left. `drop` is called for each entry that is over."""
        while True:
            self.awake.clear()
            for entry in [entry for entry in self._own_entries() if entry.is_over]:
                drop(entry)
            if not any(True for _ in self._own_entries()):
                return
            job, ready = self._next()
            if job is None or ready > asyncio.get_running_loop().time() + TIMER_TOLERANCE:
                await self._rest(ready if job is not None else None)
            elif job.step is not DeliveryStep.FINALIZE and not self._deps.may_send():
                await self._rest(
                    asyncio.get_running_loop().time() + self._deps.policy.retry.retry.total_seconds()
                )
            else:
                await self._do(job)

    def _own_entries(self) -> Iterable[CardEntry]:
        return (entry for entry in self._entries.values() if entry.card.channel == self.channel)

    async def _rest(self, until: float | None) -> None:
        try:
            async with asyncio.timeout_at(until):
                await self.awake.wait()
        except TimeoutError:
            return

    def _next(self) -> tuple[DeliveryJob | None, float]:
        """Return the most urgent job that is ready, else the one that is ready first, and when."""
        now = asyncio.get_running_loop().time()
        best: tuple[float, tuple[int, int, str, int], DeliveryJob] | None = None
        for entry in self._own_entries():
            parent = self._entries.get(entry.card.parent or "")
            for job in pending_jobs(entry, is_parent_known=parent is None or bool(parent.card.message_id)):
                ready = max(now, self._ready(job, now))
                if best is None or (ready, job.rank) < best[:2]:
                    best = (ready, job.rank, job)
        return (None, 0.0) if best is None else (best[2], best[0])

    def _ready(self, job: DeliveryJob, now: float) -> float:
        ready = job.attempts.not_before
        if job.step is DeliveryStep.FINALIZE:
            return ready
        ready = max(ready, self._deps.method_limiters[METHOD[job.step]].ready_at())
        if self.refused_by is not Refuses.MESSAGE:
            ready = max(ready, self._refused_at + self._deps.policy.retry.refused_pause(job.is_critical))
        if METHOD[job.step] == "post":
            ready = max(ready, self._rate_limiter.ready_at())
        if METHOD[job.step] == "find" and job.intent_at is not None:
            ready = max(ready, self._outcome_known_at(job.intent_at, job.attempts, now))
        return ready

    def _outcome_known_at(self, intent_at: datetime, attempts: Attempts, now: float) -> float:
        """Return from when a message that cannot be found was never posted. An earlier process left only its date."""
        timeout = self._deps.policy.retry.outcome_timeout
        if attempts.asked_at is not None:
            return attempts.asked_at + timeout.total_seconds()
        return now + min(intent_at + timeout - self._deps.clock.now(), timeout).total_seconds()

    async def _do(self, job: DeliveryJob) -> None:
        if job.step is not DeliveryStep.FINALIZE:
            self._deps.method_limiters[METHOD[job.step]].take()
        try:
            match job.step:
                case DeliveryStep.FINALIZE:
                    await self._deps.journal.finalize(job.entry, self._deps.clock.now())
                case DeliveryStep.POST | DeliveryStep.POST_REPLY:
                    self._rate_limiter.take()
                    await self._post(job)
                case DeliveryStep.EDIT:
                    await self._edit(job.entry)
                case DeliveryStep.FIND | DeliveryStep.FIND_REPLY:
                    await self._adopt(job)
        except SendError as error:
            await self._failed(job, error)
        else:
            job.attempts.failed, job.attempts.refused = 0, False
            if job.step is not DeliveryStep.FINALIZE:
                self.refused_by = Refuses.MESSAGE
                self._deps.on_success()

    async def _save(self, job: DeliveryJob, **changes: object) -> bool:
        journal = self._deps.journal
        if job.reply is None:
            return await journal.save_card(job.entry, **changes)
        return await journal.save_reply(job.entry, job.reply, **changes)

    def _thread(self, job: DeliveryJob) -> str | None:
        """Return the thread that a card or a reply belongs to."""
        card = job.entry.card
        parent = self._entries.get(card.parent or "")
        above = card.thread or (parent.card.message_id if parent is not None else job.entry.parent_message_id)
        return above or (card.message_id if job.reply is not None else None) or None

    async def _post(self, job: DeliveryJob) -> None:
        thread = self._thread(job)
        if job.reply is not None and thread is None:
            job.attempts.refused = True
            await self._save(job, error="its card was never posted", intent_at=None)
            if job.reply in job.entry.replies:  # its row may have been pruned, and its entry with it
                job.entry.replies.remove(job.reply)
            return
        row = job.entry.card if job.reply is None else job.reply.reply
        nonce = row.nonce or uuid4().hex
        job.attempts.is_surely_unsent = False
        job.attempts.asked_at = asyncio.get_running_loop().time()
        if not await self._save(job, nonce=nonce, intent_at=self._deps.clock.now()):
            return
        if job.reply is not None:
            reply = job.reply.reply
            ts = await self._send(
                "post",
                lambda notifier: notifier.post(
                    self.channel, reply.text, thread=thread, nonce=nonce, broadcast=reply.broadcast
                ),
            )
            await self._save(job, message_id=ts, error="")
            return
        message, digest = self._desired(job.entry)
        ts = await self._send(
            "post", lambda notifier: notifier.post(self.channel, message, thread=thread, nonce=nonce)
        )
        await self._save(job, message_id=ts, digest=digest, posted_at=self._deps.clock.now(), error="")

    async def _edit(self, entry: CardEntry) -> None:
        message, digest = self._desired(entry)
        await self._send("edit", lambda notifier: notifier.edit(self.channel, entry.card.message_id, message))
        await self._deps.journal.save_card(entry, digest=digest, posted_at=self._deps.clock.now(), error="")

    def _desired(self, entry: CardEntry) -> tuple[Message, str]:
        assert entry.desired is not None
        assert entry.desired.message is not None  # else there is no such job
        return entry.desired.message, entry.digest

    async def _adopt(self, job: DeliveryJob) -> None:
        """Search for a message with an unknown outcome: adopt it if it was posted, else allow a new post."""
        row = job.entry.card if job.reply is None else job.reply.reply
        since = (job.intent_at or self._deps.clock.now()) - self._deps.policy.retry.look_back
        thread = self._thread(job)
        found = await self._send(
            "find", lambda notifier: notifier.find(self.channel, row.nonce, since, thread)
        )
        if found is None:
            await self._save(job, intent_at=None)
            return
        if isinstance(found, Duplicates):  # removed first, so that after a crash they are found again
            for younger in found.younger:
                await self._remove(younger)
            found = found.oldest
        self._deps.counts["adopted"] += 1
        await self._save(job, message_id=found, error="")

    async def _remove(self, ts: str) -> None:
        self._deps.counts["duplicates"] += 1
        try:
            await self._send("delete", lambda notifier: notifier.delete(self.channel, ts))
        except Gone:
            return

    async def _send(self, method: str, call: Callable[[Notifier], Awaitable[Answer]]) -> Answer:
        if not self._deps.may_send():
            raise Recoverable("this process is no longer the leader")
        self._deps.counts[method] += 1
        try:
            async with asyncio.timeout(self._deps.policy.retry.answer.total_seconds()):
                return await call(self._deps.notifier)
        except SendError:
            raise
        except TimeoutError as error:
            raise UnknownOutcome(f"no answer to {method} in {self.channel}") from error
        except Exception as error:  # one card's bug must not stop the others
            log.exception("delivery failed unexpectedly", method=method, channel=self.channel)
            raise UnknownOutcome(f"{method} in {self.channel} failed: {type(error).__name__}") from error

    async def _failed(self, job: DeliveryJob, error: SendError) -> None:
        now = asyncio.get_running_loop().time()
        is_post = job.step in (DeliveryStep.POST, DeliveryStep.POST_REPLY)
        self._deps.counts[type(error).__name__.lower()] += 1
        log.warning("delivery failed", step=job.step.name, card=job.entry.card.id, reason=str(error))
        job.attempts.failed += 1
        match error:
            case Gone():
                await self._lost(job)
            case Permanent():
                job.attempts.refused = True
                if error.refuses is Refuses.MESSAGE:
                    job.attempts.not_before = now + self._deps.policy.retry.refused.total_seconds()
                else:  # the messages wait with their channel
                    self._refused_at, self.refused_by = now, error.refuses
                if is_post:
                    await self._save(job, error=str(error), intent_at=None)
                else:
                    await self._save(job, error=str(error))
            case Recoverable(retry_after=timedelta() as pause_asked):
                job.attempts.is_surely_unsent = is_post
                pacer = self._rate_limiter if is_post else self._deps.method_limiters[METHOD[job.step]]
                pacer.hold(pause_asked)
            case _:
                job.attempts.is_surely_unsent = is_post and isinstance(error, Recoverable)
                job.attempts.not_before = now + self._deps.policy.retry.pause(
                    job.attempts.failed, self._deps.random
                )

    async def _lost(self, job: DeliveryJob) -> None:
        """Allow a new post: somebody deleted the card's message, or it can no longer be edited."""
        if job.reply is not None:
            await self._save(job, intent_at=None, nonce="")
        if job.step is DeliveryStep.POST or (job.entry.card.thread and job.reply is not None):
            # The thread belongs to somebody else's message: it cannot be started again.
            job.attempts.refused = True
            pause = self._deps.policy.retry.refused.total_seconds()
            job.attempts.not_before = asyncio.get_running_loop().time() + pause
            await self._save(job, error="its thread is gone", intent_at=None)
            return
        await self._deps.journal.save_card(job.entry, message_id="", nonce="", intent_at=None, digest="")
