"""Delivery to one channel: the most urgent first, as many calls at a time as its notifier takes."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import structlog

from bot.delivery.card_entries import (
    EDIT_EVERY,
    REFRESH_EVERY,
    CardEntry,
    DeliveryJob,
    DeliveryStep,
    pending_jobs,
)
from bot.delivery.job_queue import DueJob, JobQueue, Lane
from bot.delivery.message_sender import DeliveryDependencies, MessageSender
from bot.delivery.notifier_protocol import Gone, Permanent, Recoverable, Refuses, SendError, UnknownOutcome
from bot.delivery.rate_limiter import RateLimiter
from bot.delivery.retry import TIMER_TOLERANCE, Attempts
from collectors.facts.sentences import said_by, sentence

log = structlog.get_logger(__name__)
StartTask = Callable[[Coroutine[Any, Any, None]], object]


class ChannelWorker:
    """Works until nothing is left to deliver to its channel."""

    def __init__(
        self,
        channel: str,
        entries: Mapping[str, CardEntry],
        dependencies: DeliveryDependencies,
        *,
        drop: Callable[[CardEntry], None],
        on_success: Callable[[], None] = lambda: None,
    ) -> None:
        """`drop` is called for each entry that is over, `on_success` after each call that was answered as we wanted."""
        self.channel = channel
        self.refused_by = Refuses.MESSAGE  # CHANNEL or CHAT since `_refused_at`, until something works again
        self._refused_at = 0.0  # loop time
        self._failing_since: float | None = None  # loop time, until a call is answered as we wanted
        self._covered: dict[str, str] = {}  # cards that the fallback got meanwhile, in which state
        self._awake = asyncio.Event()
        self._entries = entries  # the live entries of all channels, owned by the reconciler
        self._deps = dependencies
        self._drop = drop
        self._on_success = on_success
        registered = dependencies.notifiers.of(channel)
        self.kind = registered.kind
        self._can = registered.notifier.capabilities
        self._limiters = registered.limiters
        self._pacer = RateLimiter(self._can.limits.channel)  # of posts; each is counted when it leaves
        self._sender = MessageSender(channel, entries, dependencies, self._pacer)
        self._queue = JobQueue(self._jobs_of)

    def retry_now(self) -> None:
        """Retry what the channel or the chat refused without the pause: somebody may have fixed it."""
        self.refused_by = Refuses.MESSAGE
        self._awake.set()

    def put(self, entry: CardEntry) -> None:
        """Take up an entry that is new or has changed."""
        if entry.is_over and not self._queue.is_busy(entry):
            self._queue.remove(entry)
            self._drop(entry)
        else:
            self._queue.put(entry)
        self._queue.put_children(entry)
        self._awake.set()

    async def run(self, start: StartTask) -> None:
        """Deliver and wait until no entry is left. Each job is a task that `start` begins."""
        while len(self._queue):
            self._awake.clear()
            await self._cover()
            job, ready = self._queue.next(self._ready_at)
            now = asyncio.get_running_loop().time()
            if job is None or self._queue.in_progress >= self._can.at_once:
                await self._rest(None)
            elif ready > now + TIMER_TOLERANCE:
                await self._rest(ready)
            elif job.method and not self._deps.may_send():
                await self._rest(now + self._deps.retry.retry.total_seconds())
            else:
                self._queue.take(job)
                if job.method:
                    self._limiters[job.method].take()  # of all channels, whose jobs begin beside each other
                start(self._do(job))

    async def _cover(self) -> None:
        """Give what this channel cannot show to the fallback."""
        away = self._failing_since is not None and self._deps.fallback.is_away(
            self.refused_by, asyncio.get_running_loop().time() - self._failing_since
        )
        if not away or self.channel in self._deps.fallback.channels:
            return
        lacking = [
            entry
            for entry in self._queue.entries
            if not entry.is_over and self._covered.get(entry.card.id) != entry.state_digest
        ]
        for entry in lacking:
            self._covered[entry.card.id] = entry.state_digest
        await self._deps.fallback.cover([entry for entry in lacking if entry.is_news])

    async def _rest(self, until: float | None) -> None:
        try:
            async with asyncio.timeout_at(until):
                await self._awake.wait()
        except TimeoutError:
            return

    def _jobs_of(self, entry: CardEntry) -> Iterable[DueJob]:
        parent = self._entries.get(entry.card.parent or "")
        is_parent_known = parent is None or bool(parent.card.message_id)
        for job in pending_jobs(entry, self._can, is_parent_known=is_parent_known):
            due = job.attempts.not_before
            if job.method == "find" and job.intent_at is not None:
                due = max(due, self._outcome_known_at(job.intent_at, job.attempts))
            if job.method == "edit" and job.reply is None:
                pause = REFRESH_EVERY if job.is_refresh else EDIT_EVERY
                due = max(due, self._shown_at(entry) + pause.total_seconds())
            yield due, job

    def _shown_at(self, entry: CardEntry) -> float:
        """Return when the card was last posted or edited. An earlier process left only a date."""
        if entry.shown_at is None:
            now = self._deps.clock.now()
            ago = max(now - (entry.card.posted_at or now), timedelta())
            entry.shown_at = asyncio.get_running_loop().time() - ago.total_seconds()
        return entry.shown_at

    def _outcome_known_at(self, intent_at: datetime, attempts: Attempts) -> float:
        """Return from when a message that cannot be found was never posted. An earlier process left only its date.

        That is read once: a wall clock that steps back would put it off again and again.
        """
        timeout = self._deps.retry.outcome_timeout
        if attempts.asked_at is None:
            ago = max(self._deps.clock.now() - intent_at, timedelta())
            attempts.asked_at = asyncio.get_running_loop().time() - ago.total_seconds()
        return attempts.asked_at + timeout.total_seconds()

    def _ready_at(self, lane: Lane) -> float:
        if not lane.method:
            return 0.0
        ready = self._limiters[lane.method].ready_at(spares_burst=lane.is_refresh)
        if self.refused_by is not Refuses.MESSAGE:
            ready = max(ready, self._refused_at + self._deps.retry.refused_pause(lane.is_critical))
        return max(ready, self._pacer.ready_at()) if lane.method == "post" else ready

    async def _do(self, job: DeliveryJob) -> None:
        try:
            await self._sender.do(job)
        except SendError as error:
            await self._failed(job, error)
        else:
            job.attempts.failed, job.attempts.refused = 0, False
            if job.method:
                self.refused_by, self._failing_since = Refuses.MESSAGE, None
                self._covered.clear()
                self._on_success()
        self._queue.done(job.entry)
        self.put(job.entry)

    async def _failed(self, job: DeliveryJob, error: SendError) -> None:
        now = asyncio.get_running_loop().time()
        is_post = job.method == "post"
        self._deps.counts[type(error).__name__.lower()] += 1
        if job.method and _is_answer(error):
            self._failing_since = None
        elif job.method and self._failing_since is None:
            self._failing_since = now
        log.warning("delivery failed", step=job.step.name, card=job.entry.card.id, reason=str(error))
        job.attempts.failed += 1
        match error:
            case Gone() | Permanent(refuses=Refuses.MESSAGE) if job.step is DeliveryStep.EDIT_REPLY:
                await self._sender.save(job, buttons=())  # it stays as it is
            case Gone():
                await self._lost(job)
            case Permanent():
                if error.refuses is Refuses.MESSAGE:
                    job.attempts.refused = True
                    job.attempts.not_before = now + self._deps.retry.refused.total_seconds()
                else:  # the messages wait with their channel
                    self._refused_at, self.refused_by = now, error.refuses
                if is_post and job.reply is not None:  # of several in one message, others may be taken
                    await self._sender.save(job, error=said_by(error), intent_at=None, nonce="")
                elif is_post:
                    await self._sender.save(job, error=said_by(error), intent_at=None)
                else:
                    await self._sender.save(job, error=said_by(error))
            case Recoverable(retry_after=timedelta() as pause_asked):
                job.attempts.is_surely_unsent = is_post
                pacer = self._pacer if is_post else self._limiters[job.method]
                pacer.hold(max(pause_asked, self._deps.retry.retry))  # it may ask for none, again and again
            case UnknownOutcome() if is_post and self._can.repeats_reach_people:
                job.attempts.is_surely_unsent = False
                job.attempts.not_before = now + self._deps.retry.repetition_pause(job.attempts.failed)
            case _:
                job.attempts.is_surely_unsent = is_post and isinstance(error, Recoverable)
                pause = self._deps.retry.pause(job.attempts.failed, self._deps.random)
                job.attempts.not_before = now + pause

    async def _lost(self, job: DeliveryJob) -> None:
        """Allow a new post: somebody deleted the card's message, or it can no longer be edited."""
        if job.reply is not None:
            await self._sender.save(job, intent_at=None, nonce="")
        if job.step is DeliveryStep.POST or (job.entry.card.thread and job.reply is not None):
            # The thread belongs to somebody else's message: it cannot be started again.
            job.attempts.refused = True
            pause = self._deps.retry.refused.total_seconds()
            job.attempts.not_before = asyncio.get_running_loop().time() + pause
            await self._sender.save(job, error=sentence("its thread is gone"), intent_at=None)
            return
        await self._deps.journal.save_card(
            job.entry, message_id="", nonce="", intent_at=None, digest="", state_digest=""
        )


def _is_answer(error: SendError) -> bool:
    """Return whether the chat is there, and the channel as well: only this message was not taken, or not now."""
    match error:
        case Gone() | Recoverable(is_answer=True):
            return True
        case Permanent(refuses=Refuses.MESSAGE):
            return True
        case _:
            return False
