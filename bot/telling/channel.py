"""This file tells one channel what it should show: one call at a time, the most pressing first."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import timedelta
from typing import TypeVar
from uuid import uuid4

import structlog

from alerts.cards.message import Message
from bot.telling.entries import METHOD, Act, Attempts, Entry, Job, jobs_of
from bot.telling.means import Means
from bot.telling.pacing import Pacer
from bot.telling.speaking import Gone, InDoubt, Permanent, Recoverable, SendError, Speaker, Twins

log = structlog.get_logger(__name__)
Answer = TypeVar("Answer")
EARLY = 0.001  # seconds: a timer may ring that much before its time


class ChannelWorker:
    """Works until its channel has nothing left to be told."""

    def __init__(self, channel: str, entries: Mapping[str, Entry], means: Means) -> None:
        self.channel = channel
        self.awake = asyncio.Event()
        self._entries = entries  # the live ones of all channels, kept by the reconciler
        self._means = means
        self._pacer = Pacer(means.paces.channel)
        self._held_until = 0.0  # the channel refuses everything

    def nudge(self) -> None:
        """Somebody may have helped: try at once what was refused."""
        self._held_until = 0.0
        for entry in self._mine():
            for attempts in (entry.attempts, *(one.attempts for one in entry.lines)):
                if attempts.refused:
                    attempts.not_before = 0.0
        self.awake.set()

    async def run(self, drop: Callable[[Entry], None]) -> None:
        """Tell, wait, tell; until no entry is left. `drop` is called for each that is over."""
        while True:
            self.awake.clear()
            for entry in [entry for entry in self._mine() if entry.is_over]:
                drop(entry)
            if not any(True for _ in self._mine()):
                return
            job, ready = self._next()
            if job is None or ready > asyncio.get_running_loop().time() + EARLY:
                await self._rest(ready if job is not None else None)
            elif job.act is not Act.SETTLE and not self._means.may_speak():
                await self._rest(
                    asyncio.get_running_loop().time() + self._means.patience.retry.total_seconds()
                )
            else:
                await self._do(job)

    def _mine(self) -> Iterable[Entry]:
        return (entry for entry in self._entries.values() if entry.told.channel == self.channel)

    async def _rest(self, until: float | None) -> None:
        try:
            async with asyncio.timeout_at(until):
                await self.awake.wait()
        except TimeoutError:
            return

    def _next(self) -> tuple[Job | None, float]:
        """The most pressing job that may be done now, or else the first that may be done later."""
        now = asyncio.get_running_loop().time()
        best: tuple[float, tuple[int, int, str, int], Job] | None = None
        for entry in self._mine():
            parent = self._entries.get(entry.told.parent or "")
            for job in jobs_of(entry, is_parent_known=parent is None or bool(parent.told.message_id)):
                ready = max(now, self._ready(job, now))
                if best is None or (ready, job.rank) < best[:2]:
                    best = (ready, job.rank, job)
        return (None, 0.0) if best is None else (best[2], best[0])

    def _ready(self, job: Job, now: float) -> float:
        ready = job.attempts.not_before
        if job.act is Act.SETTLE:
            return ready
        ready = max(ready, self._held_until, self._means.methods[METHOD[job.act]].ready_at())
        if METHOD[job.act] == "post":
            ready = max(ready, self._pacer.ready_at())
        if METHOD[job.act] == "find" and job.intent_at is not None:
            left = job.intent_at + self._means.patience.doubt - self._means.clock.now()
            ready = max(ready, now + left.total_seconds())
        return ready

    async def _do(self, job: Job) -> None:
        if job.act is not Act.SETTLE:
            self._means.methods[METHOD[job.act]].take()
        try:
            match job.act:
                case Act.SETTLE:
                    await self._means.journal.settle(job.entry, self._means.clock.now())
                case Act.POST | Act.POST_LINE:
                    self._pacer.take()
                    await self._post(job)
                case Act.EDIT:
                    await self._edit(job.entry)
                case Act.FIND | Act.FIND_LINE:
                    await self._adopt(job)
        except SendError as error:
            await self._failed(job, error)
        else:
            job.attempts.failed, job.attempts.refused = 0, False

    async def _keep(self, job: Job, **changes: object) -> bool:
        journal = self._means.journal
        if job.line is None:
            return await journal.keep_card(job.entry, **changes)
        return await journal.keep_line(job.entry, job.line, **changes)

    def _thread(self, job: Job) -> str | None:
        """The thread that a card or a line belongs into."""
        told = job.entry.told
        parent = self._entries.get(told.parent or "")
        above = told.thread or (parent.told.message_id if parent is not None else job.entry.parent_ts)
        return above or (told.message_id if job.line is not None else None) or None

    async def _post(self, job: Job) -> None:
        thread = self._thread(job)
        if job.line is not None and thread is None:
            job.attempts.refused = True
            await self._keep(job, error="its card was never told", intent_at=None)
            if job.line in job.entry.lines:  # its row may be pruned, and its entry with it
                job.entry.lines.remove(job.line)
            return
        row = job.entry.told if job.line is None else job.line.line
        nonce = row.nonce or uuid4().hex
        job.attempts.is_surely_unsent = False
        if not await self._keep(job, nonce=nonce, intent_at=self._means.clock.now()):
            return
        if job.line is not None:
            line = job.line.line
            ts = await self._send(
                "post",
                lambda speaker: speaker.post(
                    self.channel, line.text, thread=thread, nonce=nonce, broadcast=line.broadcast
                ),
            )
            await self._keep(job, message_id=ts, error="")
            return
        view, digest = self._wanted(job.entry)
        ts = await self._send(
            "post", lambda speaker: speaker.post(self.channel, view, thread=thread, nonce=nonce)
        )
        await self._keep(job, message_id=ts, digest=digest, posted_at=self._means.clock.now(), error="")

    async def _edit(self, entry: Entry) -> None:
        view, digest = self._wanted(entry)
        await self._send("edit", lambda speaker: speaker.edit(self.channel, entry.told.message_id, view))
        await self._means.journal.keep_card(entry, digest=digest, posted_at=self._means.clock.now(), error="")

    def _wanted(self, entry: Entry) -> tuple[Message, str]:
        assert entry.wanted is not None
        assert entry.wanted.message is not None  # else there is no such job
        return entry.wanted.message, entry.digest

    async def _adopt(self, job: Job) -> None:
        """Look whether a message in doubt was told: take it for ours, or let it be told anew."""
        row = job.entry.told if job.line is None else job.line.line
        since = (job.intent_at or self._means.clock.now()) - self._means.patience.look_back
        thread = self._thread(job)
        found = await self._send("find", lambda speaker: speaker.find(self.channel, row.nonce, since, thread))
        if found is None:
            await self._keep(job, intent_at=None)
            return
        if isinstance(found, Twins):  # first, so that a crash finds them again
            for younger in found.younger:
                await self._remove(younger)
            found = found.eldest
        self._means.counts["adopted"] += 1
        await self._keep(job, message_id=found, error="")

    async def _remove(self, ts: str) -> None:
        self._means.counts["twins"] += 1
        try:
            await self._send("delete", lambda speaker: speaker.delete(self.channel, ts))
        except Gone:
            return

    async def _send(self, method: str, call: Callable[[Speaker], Awaitable[Answer]]) -> Answer:
        if not self._means.may_speak():
            raise Recoverable("we do not lead any more")
        self._means.counts[method] += 1
        try:
            async with asyncio.timeout(self._means.patience.answer.total_seconds()):
                return await call(self._means.speaker)
        except SendError:
            raise
        except TimeoutError as error:
            raise InDoubt(f"no answer to a {method} in {self.channel}") from error
        except Exception as error:  # one card's bug must not silence the others
            log.exception("telling.broken", method=method, channel=self.channel)
            raise InDoubt(f"a {method} in {self.channel} broke: {type(error).__name__}") from error

    async def _failed(self, job: Job, error: SendError) -> None:
        now = asyncio.get_running_loop().time()
        is_post = job.act in (Act.POST, Act.POST_LINE)
        self._means.counts[type(error).__name__.lower()] += 1
        log.warning("telling.failed", act=job.act.name, card=job.entry.told.id, why=str(error))
        job.attempts.failed += 1
        match error:
            case Gone():
                await self._lost(job)
            case Permanent():
                pause = self._means.patience.refused.total_seconds()
                job.attempts.refused = True
                job.attempts.not_before = now + pause
                if error.of_channel:
                    self._held_until = now + pause
                if is_post:
                    await self._keep(job, error=str(error), intent_at=None)
                else:
                    await self._keep(job, error=str(error))
            case Recoverable(retry_after=timedelta() as pause_asked):
                job.attempts.is_surely_unsent = is_post
                pacer = self._pacer if is_post else self._means.methods[METHOD[job.act]]
                pacer.hold(pause_asked)
            case _:
                job.attempts.is_surely_unsent = is_post and isinstance(error, Recoverable)
                job.attempts.not_before = now + self._pause(job.attempts)

    def _pause(self, attempts: Attempts) -> float:
        patience = self._means.patience
        doubled: timedelta = patience.retry * 2.0 ** min(attempts.failed - 1, 16)
        return min(patience.retry_at_most, doubled).total_seconds() * self._means.random.uniform(0.5, 1)

    async def _lost(self, job: Job) -> None:
        """Somebody deleted the card's message, or it cannot be edited any more: let it be told anew."""
        if job.line is not None:
            await self._keep(job, intent_at=None, nonce="")
        if job.act is Act.POST or (job.entry.told.thread and job.line is not None):
            # The thread that we were to speak in is not ours to begin anew.
            job.attempts.refused = True
            pause = self._means.patience.refused.total_seconds()
            job.attempts.not_before = asyncio.get_running_loop().time() + pause
            await self._keep(job, error="its thread is gone", intent_at=None)
            return
        await self._means.journal.keep_card(job.entry, message_id="", nonce="", intent_at=None, digest="")
