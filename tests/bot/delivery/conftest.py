"""A store, a chat, and cards that show launches."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random

import pytest

from alerts.cards.channel_id import channel_id
from alerts.cards.message import Color, Message
from alerts.cards.posted import CardKind, PostedCard, ThreadReply
from alerts.cards.text import text
from alerts.store import StoreSnapshot
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext, CardDefinition, Composed, composer_of, own
from bot.delivery.reconciler import Reconciler
from bot.store.sql_store import SqlStore
from commands.models import Launch
from tests.support.chat import START, FakeChat, LoopClock
from tests.support.memory_store import MemoryStore
from tests.support.rows import a_card, a_launch, a_line
from tests.support.running_jobs import running


async def compose(
    launch: Launch, _card: PostedCard, _snapshot: StoreSnapshot, _context: CardContext, now: datetime
) -> Composed:
    due = launch.reported_at if launch.reported_at and launch.reported_at > now else None
    state = (
        f"{launch.reported_state} for long" if launch.reported_at and due is None else launch.reported_state
    )
    message = Message(title=text(state), color=Color(launch.reported_reason or "info"))
    return Composed(message=message, is_final=launch.is_over, next_due=due)


CONTEXT = CardContext(rules=dict, training=lambda *_: None, blind=lambda *_: {})
TOY_CARD = CardDefinition(
    kind=CardKind.LAUNCH, compose=composer_of(Launch, compose), depends_on={Launch: own}
)


@dataclass(slots=True)
class DeliveryStage:
    """A store, a chat, and the reconciler between them."""

    store: MemoryStore | SqlStore = field(default_factory=MemoryStore)
    chat: FakeChat = field(default_factory=FakeChat)
    clock: LoopClock = field(default_factory=LoopClock)

    def reconciler(self, **more: object) -> Reconciler:
        settings: dict[str, object] = {"random": Random(7), **more}
        return Reconciler(
            self.store,
            {"slack": self.chat},
            CardCatalogue(CONTEXT, [TOY_CARD]),
            clock=self.clock,
            **settings,  # type: ignore[arg-type]
        )

    @asynccontextmanager
    async def delivering(self, **more: object) -> AsyncIterator[Reconciler]:
        """Run a reconciler while the block lasts."""
        reconciler = self.reconciler(**more)
        async with running(self.store, reconciler):
            yield reconciler

    async def put(
        self,
        id: str,
        state: str,
        *,
        color: Color = Color.INFO,
        channel: str = "C1",
        over: bool = False,
        changes_at: datetime | None = None,
        reply: str = "",
        **card: object,
    ) -> PostedCard:
        """Store the state of launch `id`, its card and, if given, a thread reply, in one unit.

        `channel` is the chat's own id.
        """
        channel = channel_id("slack", channel)
        row = a_launch(START, id=id, cluster="lab", training=id, by_name="Ann", channel=channel)
        new = a_card(id, channel=channel, kind=CardKind.LAUNCH)
        async with self.store.unit() as unit:
            await unit.rows(Launch).put(
                replace(
                    row,
                    reported_state=state,
                    reported_reason=color.value,
                    is_over=over,
                    reported_at=changes_at,
                )
            )
            stored = replace(await unit.rows(PostedCard).get(new.id) or new, **card)  # type: ignore[arg-type]
            await unit.rows(PostedCard).put(stored)
            if reply:
                await unit.rows(ThreadReply).add(a_line(new, reply, said=reply, at=self.clock.now()))
        return stored

    async def put_without_launch(self, id: str) -> PostedCard:
        """Store a card that has nothing to show."""
        card = a_card(id, kind=CardKind.LAUNCH)
        async with self.store.unit() as unit:
            await unit.rows(PostedCard).put(card)
        return card

    async def card(self, id: str, channel: str = "C1") -> PostedCard:
        async with self.store.unit() as unit:
            posted = a_card(id, channel=channel_id("slack", channel), kind=CardKind.LAUNCH)
            found = await unit.rows(PostedCard).get(posted.id)
        assert found is not None
        return found


@pytest.fixture
def yard() -> DeliveryStage:
    return DeliveryStage()


@pytest.fixture
def yard_factory() -> Callable[[], DeliveryStage]:
    return DeliveryStage
