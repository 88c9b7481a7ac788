"""The intake: stores each interaction, so that it may be acknowledged, and says what became of one that took long."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from alerts.store import Store
from bot.channels.interaction import Interaction
from commands.models import HandledRequest

MAX_WAITING = 1_000  # interactions
STORE_TIMEOUT = 2.0  # seconds; Slack waits three for the acknowledgement
PENDING_AFTER = 1.0  # seconds more, after which the sender hears that it is not known yet
MAX_REFUSED = 1_000  # interactions whose senders were asked to send them again


class Receipt(Enum):
    """What the sender of an interaction reads that was not acknowledged in time."""

    TAKEN = auto()
    NOT_TAKEN = auto()
    FULL = auto()
    PENDING = auto()  # it is not known yet


class InboxFullError(Exception):
    """Too many interactions wait. This one was not stored."""


class NotYetStoredError(Exception):
    """The store has not said in time whether it has the interaction. `outcome` will be what accept would have been."""

    def __init__(self, outcome: "asyncio.Future[None]") -> None:
        super().__init__("the store has not answered yet")
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class _Arrival:
    interaction: Interaction
    stored: "asyncio.Future[None]"

    def refuse(self, error: Exception) -> None:
        if not self.stored.done():
            self.stored.set_exception(error)


class Intake:
    """Puts interactions into the store, where the inbox finds them.

    Its own task stores them, all that have arrived at once: a transaction that hangs could not be cancelled in time.
    One that was refused stays so, also when it is delivered again: its sender was asked to send it again.
    """

    def __init__(self, store: Store, *, max_waiting: int = MAX_WAITING) -> None:
        self._store = store
        self._max_waiting = max_waiting
        self._arrived: asyncio.Queue[_Arrival] = asyncio.Queue(max_waiting)
        self._refused: dict[str, None] = {}  # ids, oldest first
        self._group: asyncio.TaskGroup | None = None

    async def accept(self, interaction: Interaction) -> None:
        """Return when the interaction is stored, now or from an earlier delivery, or was refused earlier.

        Raises InboxFullError, NotYetStoredError, and the store's errors.
        """
        if interaction.id in self._refused:
            return
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        stored.add_done_callback(_seen)
        try:
            self._arrived.put_nowait(_Arrival(interaction, stored))
        except asyncio.QueueFull as error:
            raise InboxFullError from error
        try:
            async with asyncio.timeout(STORE_TIMEOUT):
                await asyncio.shield(stored)
        except TimeoutError as error:
            if not stored.done():
                raise NotYetStoredError(stored) from error
            stored.result()  # it was stored, or refused, while the process was too busy to say so

    def follow(self, report: Coroutine[Any, Any, None]) -> None:
        """Run this beside the intake, to its end or the intake's."""
        if self._group is None:
            report.close()
        else:
            self._group.create_task(report)

    async def run(self) -> None:
        """Store what arrives until cancelled."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                await self._store_arrivals()
            finally:
                self._group = None

    async def _store_arrivals(self) -> None:
        while True:
            batch = [await self._arrived.get()]
            while not self._arrived.empty():
                batch.append(self._arrived.get_nowait())
            try:
                full = await self._put(batch)
            except Exception as error:
                for one in batch:
                    self._refuse(one, error)
                continue
            for one in batch:
                if one in full:
                    self._refuse(one, InboxFullError())
                elif not one.stored.done():
                    one.stored.set_result(None)

    def _refuse(self, arrival: _Arrival, error: Exception) -> None:
        self._refused[arrival.interaction.id] = None
        if len(self._refused) > MAX_REFUSED:
            del self._refused[next(iter(self._refused))]
        arrival.refuse(error)

    async def _put(self, arrivals: list[_Arrival]) -> list[_Arrival]:
        """Store what is new, and return those for which there was no room."""
        full = []
        async with self._store.unit() as unit:
            waiting = {one.id for one in await unit.rows(Interaction).find(limit=self._max_waiting)}
            for one in arrivals:
                id = one.interaction.id
                is_refused = id in self._refused  # while this delivery waited
                if is_refused or id in waiting or await unit.rows(HandledRequest).get(id) is not None:
                    continue
                if len(waiting) >= self._max_waiting:
                    full.append(one)
                    continue
                waiting.add(id)
                await unit.rows(Interaction).put(one.interaction)
        return full


async def report_outcome(
    outcome: "asyncio.Future[None]", report: Callable[["Receipt"], Awaitable[None]]
) -> None:
    """Tell the sender what became of an interaction, once the store says it; before that, that it is not known yet."""
    try:
        async with asyncio.timeout(PENDING_AFTER):
            await asyncio.shield(outcome)
    except TimeoutError:
        if not outcome.done():
            await report(Receipt.PENDING)
    except Exception:
        pass
    try:
        await outcome
    except InboxFullError:
        await report(Receipt.FULL)
    except Exception:
        await report(Receipt.NOT_TAKEN)
    else:
        await report(Receipt.TAKEN)


def _seen(outcome: "asyncio.Future[None]") -> None:
    """Look at the error, as nobody else may: the sender's connection can be gone."""
    if not outcome.cancelled():
        outcome.exception()
