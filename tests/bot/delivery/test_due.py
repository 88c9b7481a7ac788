"""This file tests that a card whose moment is past is waited for no more: else telling would never rest."""

from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.cards.posted import CardKind
from bot.delivery.composers import CardContext, composers
from bot.delivery.desired_state import DesiredState
from bot.jobs.launch_watcher import LaunchWatcher
from bot.store.memory_store import MemoryStore
from collectors.facts.redaction import Redactor
from commands.models import ReclaimRequest, ReclaimState
from tests.support.yard import NOON, Hands

SHOWING = CardContext(rules=dict, training=lambda *_: None, blind=lambda _: {})
CLAIM = ReclaimRequest(
    id="c1",
    cluster="prod-a",
    training="vision-detr/detr",
    owner="ana",
    owner_id="U_ANA",
    gpus=8,
    asked_by="U_DANA",
    asked_by_name="dana",
    asked_at=NOON,
    grace_until=NOON + timedelta(minutes=30),
)


async def asked() -> MemoryStore:
    """A store with the claim and its card."""
    store = MemoryStore()
    async with store.unit() as unit:
        await unit.reclaim_requests.put(CLAIM)
    await LaunchWatcher(store, {}, Hands(), redact=Redactor(()), channel="C_GPU").look()
    return store


@pytest.mark.parametrize("standing", [ReclaimState.ASKED, ReclaimState.SNOOZED, ReclaimState.KEPT])
async def test_telling_rests_when_the_time_of_a_claim_is_up(standing: ReclaimState) -> None:
    store = await asked()
    async with store.unit() as unit:
        await unit.reclaim_requests.put(replace(CLAIM, state=standing))
    desired_state = DesiredState(store, composers(SHOWING))
    await desired_state.refresh(NOON)
    if standing is not ReclaimState.KEPT:
        assert desired_state.next_due() == CLAIM.grace_until
    await desired_state.refresh(CLAIM.grace_until)
    assert desired_state.next_due() is None


async def test_the_card_of_a_claim_that_is_kept_is_said_and_done() -> None:
    store = await asked()
    async with store.unit() as unit:
        await unit.reclaim_requests.put(replace(CLAIM, state=ReclaimState.KEPT))
        (card,) = await unit.cards.find()
        composed = await composers(SHOWING)[CardKind.RECLAIM_REQUEST](card, unit, NOON)
    assert composed.is_final


async def test_a_claim_that_is_open_again_has_a_live_card_again() -> None:
    store = await asked()
    async with store.unit() as unit:
        (card,) = await unit.cards.find()
        await unit.cards.put(replace(card, message_id="1.1", is_final=True))
    await LaunchWatcher(store, {}, Hands(), redact=Redactor(()), channel="C_GPU").look()
    async with store.unit() as unit:
        (card,) = await unit.cards.find()
    assert (card.message_id, card.is_final) == ("1.1", False)
