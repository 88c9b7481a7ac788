"""This file gives the tests of telling a store, a chat, and cards whose truth is a row: a launch."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random

import pytest

from alerts.telling.cards import CardKind, Told
from alerts.telling.views import Tone, View, text
from bot.store.memory import MemoryStore
from bot.store.sql import SqlStore
from bot.telling.composing import Composed
from bot.telling.means import Patience
from bot.telling.reconciler import Reconciler
from commands.rows import Launch
from commands.stores import Unit
from tests.support.chat import START, FakeChat, LoopClock
from tests.support.rows import a_card, a_line


async def compose(told: Told, unit: Unit, now: datetime) -> Composed:
    launch = await unit.launches.get(told.of)
    if launch is None:
        return Composed(view=None, is_settled=True)
    due = launch.told_at if launch.told_at and launch.told_at > now else None
    words = f"{launch.told} since long" if launch.told_at and due is None else launch.told
    view = View(title=text(words), tone=Tone(launch.told_reason or "info"))
    return Composed(view=view, is_settled=launch.is_over, next_due=due)


@dataclass(slots=True)
class Yard:
    """A store, a chat, and the telling between them."""

    store: MemoryStore | SqlStore = field(default_factory=MemoryStore)
    chat: FakeChat = field(default_factory=FakeChat)
    clock: LoopClock = field(default_factory=LoopClock)

    def reconciler(self, **more: object) -> Reconciler:
        settings: dict[str, object] = {"random": Random(7), "patience": Patience(), **more}
        return Reconciler(
            self.store,
            self.chat,
            {CardKind.TRAINING: compose},
            clock=self.clock,
            **settings,  # type: ignore[arg-type]
        )

    @asynccontextmanager
    async def telling(self, **more: object) -> AsyncIterator[Reconciler]:
        """Tell while the block lasts."""
        one = self.reconciler(**more)
        stop = self.store.listen(one.note)
        try:
            async with asyncio.TaskGroup() as tasks:
                task = tasks.create_task(one.run())
                yield one
                task.cancel()
        finally:
            stop()

    async def truth(
        self,
        of: str,
        says: str,
        *,
        tone: Tone = Tone.INFO,
        channel: str = "C1",
        over: bool = False,
        changes_at: datetime | None = None,
        line: str = "",
        **card: object,
    ) -> Told:
        """What is so of `of` now; its card is wanted, and a line when one is given: all in one unit."""
        row = Launch(id=of, cluster="lab", training=of, by="U1", by_name="Ann", at=START, channel=channel)
        told = a_card(of, channel=channel, kind=CardKind.TRAINING)
        async with self.store.unit() as unit:
            await unit.launches.put(
                replace(row, told=says, told_reason=tone.value, is_over=over, told_at=changes_at)
            )
            kept = replace(await unit.cards.get(told.id) or told, **card)  # type: ignore[arg-type]
            await unit.cards.put(kept)
            if line:
                await unit.lines.add(a_line(told, line, said=line, at=self.clock.now()))
        return kept

    async def card(self, of: str, channel: str = "C1") -> Told:
        async with self.store.unit() as unit:
            found = await unit.cards.get(a_card(of, channel=channel, kind=CardKind.TRAINING).id)
        assert found is not None
        return found


@pytest.fixture
def yard() -> Yard:
    return Yard()


@pytest.fixture
def yard_factory() -> Callable[[], Yard]:
    return Yard
