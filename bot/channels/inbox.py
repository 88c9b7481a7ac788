"""The inbox: stored interactions become requests, are run as commands and answered."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Protocol

import structlog

from alerts.store import Changed, Store, StoreError
from bot.channels.fair_slots import FairSlots, SenderLane
from bot.channels.interaction import Interaction
from bot.channels.origin import line_about, origin_of
from bot.chat_accounts import People, UnknownPersonError
from collectors.facts.clock import Clock
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from commands.core.command import Answer, Handler
from commands.core.guidance import not_stored, refused
from commands.core.request import Actor, Request, Upload
from commands.models import HandledRequest

MAX_AGE = timedelta(minutes=5)  # of a line that is still meant
MAX_OUTSIDERS = 1_000
MAX_INTERRUPTED = 2  # processes that may end during one line; what ends a third is given up

_log = structlog.get_logger()


class Responder(Protocol):
    """Answers a person where they interacted."""

    async def respond(self, interaction: Interaction, answer: Answer) -> None: ...

    async def files(self, interaction: Interaction) -> tuple[Upload, ...]:
        """Return the attached files. Raises SourceError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxDependencies:
    """What the inbox needs. `on_interaction` is called with the channel of each one that a member sent.

    `changes`: whether a line names a command that changes something, such as a confirmation.
    """

    people: People
    store: Store
    take: Handler
    responder: Responder
    clock: Clock
    on_interaction: Callable[[str], None] = lambda _channel: None
    changes: Callable[[str], bool] = lambda _line: False


class Inbox:
    """Handles stored interactions in the order of their arrival, several at once; one that fails is answered.

    What one person sends waits for nobody else's slow lines, and a confirmation for no slow reading (`fair_slots.py`).

    A row is deleted when its interaction has been answered. What a stop or a crash interrupted is handled by the next
    process; HandledRequest tells it which effects are stored already.
    """

    def __init__(self, dependencies: InboxDependencies) -> None:
        self._deps = dependencies
        self._wake = asyncio.Event()
        self._has_arrived = True  # or may have, before this process
        self._slots = FairSlots()
        self._running: set[str] = set()
        self._left: dict[str, Interaction] = {}  # answered, and could not be deleted
        self._outsiders: dict[str, None] = {}  # who read that they get no answer, oldest first

    def wake(self, changed: Changed) -> None:
        """Listen to the store: wake up when interactions have arrived. What runs here changes its own row itself."""
        if changed.get("interactions", {}).keys() - self._running:
            self._has_arrived = True
            self._wake.set()
        elif self._left:
            self._wake.set()

    async def run(self) -> None:
        """Run until cancelled."""
        self._running = set(self._left)
        self._slots, self._has_arrived = FairSlots(), True
        waiting: list[tuple[Interaction, SenderLane]] = []
        async with asyncio.TaskGroup() as group:
            while True:
                self._wake.clear()
                await self._delete()
                if self._has_arrived:
                    self._has_arrived = False
                    waiting = await self._waiting()
                waiting = [(one, lane) for one, lane in waiting if not self._started(one, lane, group)]
                await self._wake.wait()

    def _started(self, interaction: Interaction, lane: SenderLane, group: asyncio.TaskGroup) -> bool:
        """Handle the interaction if there is a slot for it now, and return whether there is."""
        if not self._slots.may_begin(lane):
            return False
        self._running.add(interaction.id)
        self._slots.begin(lane)
        task = group.create_task(self._handle(interaction), name=f"interaction {interaction.id}")
        task.add_done_callback(partial(self._ended, lane))
        return True

    def _ended(self, lane: SenderLane, _task: "asyncio.Task[None]") -> None:
        self._slots.end(lane)
        self._wake.set()

    async def _begin(self, interaction: Interaction) -> None:
        """Store that it begins: should this process end meanwhile, the next one knows that it may have run."""
        async with self._deps.store.unit() as unit:
            await unit.rows(Interaction).put(replace(interaction, begun=interaction.begun + 1))

    async def _waiting(self) -> list[tuple[Interaction, SenderLane]]:
        async with self._deps.store.unit() as unit:
            found = [one for one in await unit.rows(Interaction).find() if one.id not in self._running]
        return [(one, SenderLane(one.user_id, self._deps.changes(one.text))) for one in found]

    async def _handle(self, interaction: Interaction) -> None:
        try:
            if (answer := await self._answer(interaction)) is not None:
                await self._deps.responder.respond(interaction, answer)
        except Exception:
            _log.exception("interaction failed", interaction=interaction.id, line=interaction.text[:200])
            await self._respond_with_error(interaction)
        await self._delete(interaction)

    async def _delete(self, *now: Interaction) -> None:
        """Delete what was answered. What cannot be deleted is tried again when something is stored: the next process
        would run it, although its sender read that nothing was done. It stays in `_running` meanwhile."""
        answered = [*self._left.values(), *now]
        if not answered:
            return
        try:
            async with self._deps.store.unit() as unit:
                for one in answered:
                    await unit.rows(HandledRequest).add(HandledRequest(id=one.id, at=one.at))
                    await unit.rows(Interaction).delete(one.id)
        except StoreError as error:
            _log.warning("interactions not deleted yet", count=len(answered), reason=str(error))
        except Exception:
            _log.exception("interactions not deleted", interactions=[one.id for one in now])
        else:
            for one in answered:
                self._left.pop(one.id, None)
                self._running.discard(one.id)
            return
        self._left |= {one.id: one for one in now}

    async def _answer(self, interaction: Interaction) -> Answer | None:
        """Return the answer; None for outsiders who read why.

        Who cannot be looked up reads that, known or not: what somebody of ours sends is not lost in silence.
        """
        try:
            return await self._carried_out(interaction)
        except StoreError as error:  # whatever is done is stored first
            return not_stored(error)

    async def _carried_out(self, interaction: Interaction) -> Answer | None:
        try:
            actor = await self._deps.people.actor(interaction.user_id)
        except UnknownPersonError as error:
            return None if error.is_outsider else refused(self._unchecked(interaction, error))
        if actor.is_guest:
            return self._refused_once(interaction.user_id)
        self._deps.on_interaction(interaction.channel)
        if reason := self._outdated(interaction):
            return refused(reason)
        try:
            uploads = await self._deps.responder.files(interaction) if interaction.files else ()
        except SourceError as error:
            return refused(
                sentence("Cannot read the attached files: {error}. Nothing was done.", error=said_by(error))
            )
        line = interaction.text or "help"
        if interaction.is_about and not (line := await line_about(interaction, self._deps.store)):
            return refused(
                sentence("This is not a message about anything that Yardmaster knows. Try `incident list`.")
            )
        request = await self._request(interaction, line, actor, uploads)
        await self._begin(
            interaction
        )  # not before: what ends the process until here is not this line's doing
        return await self._deps.take(request)

    def _refused_once(self, user: str) -> Answer | None:
        """Return that outsiders get no answer, the first time that somebody asks."""
        if user in self._outsiders:
            return None
        self._outsiders[user] = None
        if len(self._outsiders) > MAX_OUTSIDERS:
            del self._outsiders[next(iter(self._outsiders))]
        return refused(sentence("I answer members of this workspace only."))

    @staticmethod
    def _unchecked(interaction: Interaction, error: UnknownPersonError) -> str:
        """Return that the sender cannot be looked up; it names the line, as they may have sent several."""
        if not interaction.text:
            return said_by(error)
        return sentence(
            "Yardmaster cannot check who you are right now, so `{line}` was not run: try again in a minute.",
            line=interaction.text[:200],
        )

    def _outdated(self, interaction: Interaction) -> str:
        """Return why a line that waited too long, or that ends the process, must not run; empty if it may."""
        age = self._deps.clock.now() - interaction.at
        if age > MAX_AGE:
            reason = sentence("it is {age} old, and that is too old to run now", age=age)
        elif age < -MAX_AGE:
            reason = sentence("the clock was set back since, so it may be too old to run now")
        elif interaction.begun > MAX_INTERRUPTED:
            reason = sentence("Yardmaster stopped each time that it ran this")
        else:
            return ""
        return sentence(
            "Yardmaster has not answered `{line}`: {reason}. "
            "See in `audit` whether it was done, and send it again if you still want it.",
            line=interaction.text[:200],
            reason=reason,
        )

    async def _request(
        self, interaction: Interaction, line: str, actor: Actor, uploads: tuple[Upload, ...]
    ) -> Request:
        return Request(
            id=interaction.id,
            line=line,
            actor=actor,
            at=self._deps.clock.now(),
            origin=await origin_of(interaction, self._deps.store),
            uploads=uploads,
            is_resumed=interaction.begun > 0,
        )

    async def _respond_with_error(self, interaction: Interaction) -> None:
        reason = sentence(
            "Internal error: see Yardmaster's log, or ask its operator. "
            "`audit` shows whether anything was done."
        )
        try:
            await self._deps.responder.respond(interaction, refused(reason))
        except Exception:
            _log.exception("error response failed", interaction=interaction.id)
