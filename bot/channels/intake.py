"""The intake: stores each interaction, so that it may be acknowledged."""

import asyncio
from dataclasses import dataclass

from alerts.store import Store
from bot.channels.interaction import Interaction
from commands.models import HandledRequest

MAX_WAITING = 1_000  # interactions
STORE_TIMEOUT = 2.0  # seconds; Slack waits three for the acknowledgement


class InboxFullError(Exception):
    """Too many interactions wait. This one was not stored."""


@dataclass(frozen=True, slots=True)
class _Arrival:
    interaction: Interaction
    stored: "asyncio.Future[None]"  # done early when its listener has given up

    def refuse(self, error: Exception) -> None:
        if not self.stored.done():
            self.stored.set_exception(error)


class Intake:
    """Puts interactions into the store, where the inbox finds them.

    Its own task stores them, all that have arrived at once: a transaction that hangs could not be cancelled in time.
    """

    def __init__(self, store: Store, *, max_waiting: int = MAX_WAITING) -> None:
        self._store = store
        self._max_waiting = max_waiting
        self._arrived: asyncio.Queue[_Arrival] = asyncio.Queue(max_waiting)

    async def accept(self, interaction: Interaction) -> None:
        """Return when the interaction is stored, now or from an earlier delivery.

        Raises InboxFullError, TimeoutError (it may be stored nevertheless), and the store's errors.
        """
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        try:
            self._arrived.put_nowait(_Arrival(interaction, stored))
        except asyncio.QueueFull as error:
            raise InboxFullError from error
        async with asyncio.timeout(STORE_TIMEOUT):
            await stored

    async def run(self) -> None:
        """Store what arrives until cancelled."""
        while True:
            batch = [await self._arrived.get()]
            while not self._arrived.empty():
                batch.append(self._arrived.get_nowait())
            try:
                full = await self._put(batch)
            except Exception as error:
                for one in batch:
                    one.refuse(error)
                continue
            for one in batch:
                if one in full:
                    one.refuse(InboxFullError())
                elif not one.stored.done():
                    one.stored.set_result(None)

    async def _put(self, arrivals: list[_Arrival]) -> list[_Arrival]:
        """Store what is new, and return those for which there was no room."""
        full = []
        async with self._store.unit() as unit:
            waiting = {one.id for one in await unit.rows(Interaction).find(limit=self._max_waiting)}
            for one in arrivals:
                id = one.interaction.id
                is_given_up = one.stored.done()  # while the transaction was waited for
                if is_given_up or id in waiting or await unit.rows(HandledRequest).get(id) is not None:
                    continue
                if len(waiting) >= self._max_waiting:
                    full.append(one)
                    continue
                waiting.add(id)
                await unit.rows(Interaction).put(one.interaction)
        return full
