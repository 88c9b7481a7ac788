"""Interleaved stores and reads: what a worker stores meanwhile must not be lost, or a card would be posted twice."""

import asyncio
from pathlib import Path

import pytest

from alerts.cards.posted import PostedCard
from bot.cards.card_catalogue import CardCatalogue
from bot.delivery.desired_state import DesiredState
from bot.delivery.journal import DeliveryJournal
from bot.store.sql_store import SqlStore
from collectors.internal_errors import InternalErrors
from tests.bot.delivery.conftest import CONTEXT, TOY_CARD, DeliveryStage
from tests.support.chat import START
from tests.support.new_store import new_store


@pytest.mark.parametrize("milliseconds", range(12))
async def test_an_entry_follows_its_row_however_reading_and_posting_interleave(
    tmp_path: Path, milliseconds: int
) -> None:
    store = await SqlStore.open(new_store(tmp_path))
    yard = DeliveryStage(store=store)
    catalogue = CardCatalogue(CONTEXT, [TOY_CARD])
    desired = DesiredState(yard.store, catalogue, InternalErrors())
    journal = DeliveryJournal(yard.store, catalogue)
    card = await yard.put("t1", "running")
    await desired.refresh(START)
    entry = desired.entries[card.id]

    async def post() -> None:
        await asyncio.sleep(milliseconds / 2_000)
        await journal.save_card(entry, message_id="000001")

    desired.mark_changed({"cards": {card.id: card}})
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(desired.refresh(START))
        tasks.create_task(post())
    async with yard.store.read() as snapshot:
        stored = await snapshot.rows(PostedCard).get(card.id)
    assert entry.card == stored
    assert entry.card.message_id == "000001"
    await store.close()
