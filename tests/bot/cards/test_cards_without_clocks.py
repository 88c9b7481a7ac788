"""A card has no running clock: as long as no row changes, a later look composes the same message."""

from datetime import datetime, timedelta

import pytest

from alerts.cards.message import Message
from alerts.cards.posted import CardKind
from bot.cards.card_catalogue import CARD_DEFINITIONS, CardCatalogue
from bot.cards.card_kind import CardDefinition
from tests.bot.cards.full_cards import CONTEXT, FULL
from tests.support.memory_store import MemoryStore
from tests.support.rows import NOON, a_card

LOOKS = (timedelta(seconds=7), timedelta(minutes=3), timedelta(minutes=41))


async def composed(store: MemoryStore, kind: CardKind, now: datetime) -> Message | None:
    async with store.read() as snapshot:
        return (await CardCatalogue(CONTEXT).compose(a_card("i1", kind=kind), snapshot, now)).message


@pytest.mark.parametrize("definition", CARD_DEFINITIONS, ids=lambda one: one.kind.value)
async def test_time_alone_edits_no_card(definition: CardDefinition) -> None:
    store = MemoryStore()
    async with store.unit() as unit:
        for row in FULL[definition.kind]:
            await unit.rows(type(row)).put(row)
    at_first = await composed(store, definition.kind, NOON)
    assert at_first is not None
    for later in LOOKS:
        assert await composed(store, definition.kind, NOON + later) == at_first, later
