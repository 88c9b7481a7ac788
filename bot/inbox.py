"""This file takes gestures in: who made them, where, and so which line goes on the road; and answers them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog

from alerts.cards.posted import CardKind
from bot.metrics import Metrics
from bot.people import People
from bot.slack.heard import Heard
from collectors.facts.clock import Clock
from collectors.facts.errors import SourceError
from collectors.facts.people import Actor
from commands.command import Answer
from commands.desk import Upload
from commands.pipeline import refused
from commands.plans import Origin
from commands.requests import Request
from commands.stores import Store

AT_ONCE = 16
CARDS_LOOKED_AT = 500  # the newest of a channel, to find the one that a button stands on

_log = structlog.get_logger()

Take = Callable[[Request], Awaitable[Answer | None]]


class Answers(Protocol):
    """Answers one person where they made their gesture."""

    async def give(self, heard: Heard, answer: Answer) -> None: ...

    async def files(self, heard: Heard) -> tuple[Upload, ...]:
        """What came with the gesture, fetched. Raises SourceError."""
        ...


class Inbox:
    """Works through what was heard, several at once; a gesture that fails is answered, and harms no other."""

    def __init__(
        self,
        queue: "asyncio.Queue[Heard]",
        *,
        people: People,
        store: Store,
        take: Take,
        answers: Answers,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._queue = queue
        self._people = people
        self._store = store
        self._take = take
        self._answers = answers
        self._clock = clock
        self._metrics = metrics

    async def run(self) -> None:
        """For ever."""
        slots = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            while True:
                await slots.acquire()
                heard = await self._queue.get()
                task = group.create_task(self._one(heard), name=f"gesture {heard.gesture_id}")
                task.add_done_callback(lambda _: slots.release())

    async def _one(self, heard: Heard) -> None:
        self._metrics.lines.labels("slack").inc()
        try:
            actor = await self._people.actor(heard.user_id)
        except Exception:  # nobody we know: not a word
            _log.exception("nobody could say who that was", gesture=heard.gesture_id, user=heard.user_id)
            return
        if actor.is_guest:
            return
        try:
            answer = await self._answered(heard, actor)
            if answer is not None:
                await self._answers.give(heard, answer)
        except Exception:
            _log.exception("a gesture failed", gesture=heard.gesture_id, line=heard.text[:200])
            await self._apologise(heard)

    async def _answered(self, heard: Heard, actor: Actor) -> Answer | None:
        try:
            uploads = await self._answers.files(heard) if heard.files else ()
        except SourceError as why:
            return refused(f"I cannot take what came along: {why}. Nothing was done.")
        request = Request(
            id=heard.gesture_id,
            line=heard.text or "help",
            actor=actor,
            at=self._clock.now(),
            origin=await self._origin(heard),
            uploads=uploads,
        )
        return await self._take(request)

    async def _apologise(self, heard: Heard) -> None:
        why = (
            "That broke something in me; it is in my log, please tell whoever runs me. "
            "`audit` says whether anything was done."
        )
        try:
            await self._answers.give(heard, refused(why))
        except Exception:
            _log.exception("could not even apologise", gesture=heard.gesture_id)

    async def _origin(self, heard: Heard) -> Origin:
        """Where it was: on or under an incident's card, the deed is the incident's."""
        stands_on = {ts for ts in (heard.message_ts, heard.thread_ts) if ts}
        incident = ""
        if stands_on:
            async with self._store.unit() as unit:
                cards = await unit.cards.find(channel=heard.channel, newest=True, limit=CARDS_LOOKED_AT)
                for card in cards:
                    if card.message_id in stands_on and card.kind is CardKind.INCIDENT:
                        incident = card.row_id
                    elif card.message_id in stands_on and card.kind is CardKind.PLAN:
                        plan = await unit.plans.get(card.row_id)
                        incident = incident or (plan.origin.incident if plan else "")
        return Origin(via="slack", channel=heard.channel, thread=heard.thread_ts, incident=incident)
