"""This file takes gestures in: who made them, where, and so which line goes on the road; and answers them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog

from alerts.cards.posted import CardKind
from bot.channels.slack.interactions import Interaction
from bot.metrics import Metrics
from bot.people import People
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from commands.core.command import Answer
from commands.core.pipeline import refused
from commands.core.request import Actor, Request, Upload
from commands.plans.plan import Origin
from commands.store import Store

AT_ONCE = 16
CARDS_LOOKED_AT = 500  # the newest of a channel, to find the one that a button stands on

_log = structlog.get_logger()

Take = Callable[[Request], Awaitable[Answer | None]]


class Responder(Protocol):
    """Answers one person where they made their gesture."""

    async def respond(self, interaction: Interaction, answer: Answer) -> None: ...

    async def files(self, interaction: Interaction) -> tuple[Upload, ...]:
        """What came with the gesture, fetched. Raises SourceError."""
        ...


class Inbox:
    """Works through what was heard, several at once; a gesture that fails is answered, and harms no other."""

    def __init__(
        self,
        queue: "asyncio.Queue[Interaction]",
        *,
        people: People,
        store: Store,
        take: Take,
        answers: Responder,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._queue = queue
        self._people = people
        self._store = store
        self._take = take
        self._responder = answers
        self._clock = clock
        self._metrics = metrics

    async def run(self) -> None:
        """For ever."""
        slots = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            while True:
                await slots.acquire()
                interaction = await self._queue.get()
                task = group.create_task(self._one(interaction), name=f"gesture {interaction.id}")
                task.add_done_callback(lambda _: slots.release())

    async def _one(self, interaction: Interaction) -> None:
        self._metrics.commands.labels("slack").inc()
        try:
            actor = await self._people.actor(interaction.user_id)
        except Exception:  # nobody we know: not a word
            _log.exception(
                "nobody could say who that was", interaction=interaction.id, user=interaction.user_id
            )
            return
        if actor.is_guest:
            return
        try:
            answer = await self._answered(interaction, actor)
            if answer is not None:
                await self._responder.respond(interaction, answer)
        except Exception:
            _log.exception("a gesture failed", interaction=interaction.id, line=interaction.text[:200])
            await self._apologise(interaction)

    async def _answered(self, interaction: Interaction, actor: Actor) -> Answer | None:
        try:
            uploads = await self._responder.files(interaction) if interaction.files else ()
        except SourceError as error:
            return refused(f"I cannot take what came along: {error}. Nothing was done.")
        request = Request(
            id=interaction.id,
            line=interaction.text or "help",
            actor=actor,
            at=self._clock.now(),
            origin=await self._origin(interaction),
            uploads=uploads,
        )
        return await self._take(request)

    async def _apologise(self, interaction: Interaction) -> None:
        reason = (
            "That broke something in me; it is in my log, please tell whoever runs me. "
            "`audit` says whether anything was done."
        )
        try:
            await self._responder.respond(interaction, refused(reason))
        except Exception:
            _log.exception("could not even apologise", interaction=interaction.id)

    async def _origin(self, interaction: Interaction) -> Origin:
        """Where it was: on or under an incident's card, the deed is the incident's."""
        stands_on = {ts for ts in (interaction.message_ts, interaction.thread_ts) if ts}
        incident = ""
        if stands_on:
            async with self._store.unit() as unit:
                cards = await unit.cards.find(channel=interaction.channel, newest=True, limit=CARDS_LOOKED_AT)
                for card in cards:
                    if card.message_id in stands_on and card.kind is CardKind.INCIDENT:
                        incident = card.row_id
                    elif card.message_id in stands_on and card.kind is CardKind.PLAN:
                        plan = await unit.plans.get(card.row_id)
                        incident = incident or (plan.origin.incident if plan else "")
        return Origin(
            via="slack", channel=interaction.channel, thread=interaction.thread_ts, incident=incident
        )
