"""This file gives the tests of telling a store, a chat, and cards whose truth is a row: a launch."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random

import pytest

from alerts.cards.message import Color, Message, text
from alerts.cards.posted import CardKind, PostedCard
from bot.channels.slack.rate_limits import SLACK_RATE_LIMITS
from bot.delivery.card_entries import Composed
from bot.delivery.rate_limiter import DeliveryPolicy
from bot.delivery.reconciler import Reconciler
from bot.delivery.retry import RetryPolicy
from bot.store.memory_store import MemoryStore
from bot.store.sql_store import SqlStore
from commands.models import Launch
from commands.store import Unit
from tests.support.chat import START, FakeChat, LoopClock
from tests.support.rows import a_card, a_line


async def compose(told: PostedCard, unit: Unit, now: datetime) -> Composed:
    launch = await unit.launches.get(told.row_id)
    if launch is None:
        return Composed(message=None, is_final=True)
    due = launch.reported_at if launch.reported_at and launch.reported_at > now else None
    words = (
        f"{launch.reported_state} since long" if launch.reported_at and due is None else launch.reported_state
    )
    view = Message(title=text(words), color=Color(launch.reported_reason or "info"))
    return Composed(message=view, is_final=launch.is_over, next_due=due)


@dataclass(slots=True)
class Yard:
    """A store, a chat, and the telling between them."""

    store: MemoryStore | SqlStore = field(default_factory=MemoryStore)
    chat: FakeChat = field(default_factory=FakeChat)
    clock: LoopClock = field(default_factory=LoopClock)

    def reconciler(self, **more: object) -> Reconciler:
        retry = more.pop("retry", RetryPolicy())
        settings: dict[str, object] = {
            "random": Random(7),
            "policy": DeliveryPolicy(rate_limits=SLACK_RATE_LIMITS, retry=retry),  # type: ignore[arg-type]
            **more,
        }
        return Reconciler(
            self.store,
            self.chat,
            {CardKind.LAUNCH: compose},
            clock=self.clock,
            **settings,  # type: ignore[arg-type]
        )

    @asynccontextmanager
    async def telling(self, **more: object) -> AsyncIterator[Reconciler]:
        """Tell while the block lasts."""
        one = self.reconciler(**more)
        stop = self.store.listen(one.mark_changed)
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
        color: Color = Color.INFO,
        channel: str = "C1",
        over: bool = False,
        changes_at: datetime | None = None,
        line: str = "",
        **card: object,
    ) -> PostedCard:
        """What is so of `of` now; its card is wanted, and a line when one is given: all in one unit."""
        row = Launch(id=of, cluster="lab", training=of, by="U1", by_name="Ann", at=START, channel=channel)
        told = a_card(of, channel=channel, kind=CardKind.LAUNCH)
        async with self.store.unit() as unit:
            await unit.launches.put(
                replace(
                    row,
                    reported_state=says,
                    reported_reason=color.value,
                    is_over=over,
                    reported_at=changes_at,
                )
            )
            kept = replace(await unit.cards.get(told.id) or told, **card)  # type: ignore[arg-type]
            await unit.cards.put(kept)
            if line:
                await unit.replies.add(a_line(told, line, said=line, at=self.clock.now()))
        return kept

    async def card(self, of: str, channel: str = "C1") -> PostedCard:
        async with self.store.unit() as unit:
            found = await unit.cards.get(a_card(of, channel=channel, kind=CardKind.LAUNCH).id)
        assert found is not None
        return found


@pytest.fixture
def yard() -> Yard:
    return Yard()


@pytest.fixture
def yard_factory() -> Callable[[], Yard]:
    return Yard
