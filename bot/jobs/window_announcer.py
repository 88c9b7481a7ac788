"""The window announcer: says in the channel that a window begins, and that it has ended."""

import asyncio
from collections.abc import Sequence

from alerts.cards.posted import CardKind, PostedCard, new_card
from alerts.store import Store
from collectors.facts.clock import Clock
from commands.gates.window import PlannedWindow, WindowNotice, announcement

LOOK_AGAIN = 15.0  # seconds: intervals begin and end at minutes


class WindowAnnouncer:
    """Says each begin and end once: what was said last is stored."""

    def __init__(self, store: Store, clock: Clock, windows: Sequence[PlannedWindow], *, channel: str) -> None:
        self._store = store
        self._clock = clock
        self._windows = windows
        self._channel = channel

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            await self.announce()
            await asyncio.sleep(LOOK_AGAIN)

    async def announce(self) -> None:
        """Store what is to be said now, with its card."""
        now = self._clock.now()
        due: list[tuple[PlannedWindow, WindowNotice]] = []
        async with self._store.read() as snapshot:
            for window in self._windows:
                said = await snapshot.rows(WindowNotice).find(window=window.name, newest=True, limit=1)
                if (notice := announcement(window, said[0] if said else None, now)) is not None:
                    due.append((window, notice))
        if not due:
            return
        async with self._store.unit() as unit:
            for window, notice in due:
                await unit.rows(WindowNotice).put(notice)
                if channel := window.channel or self._channel:
                    await unit.rows(PostedCard).add(new_card(CardKind.WINDOW, notice, channel))
