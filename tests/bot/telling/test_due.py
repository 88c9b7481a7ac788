"""This file tests that a card whose moment is past is waited for no more: else telling would never rest."""

from dataclasses import replace
from datetime import timedelta

import pytest

from alerts.telling.cards import CardKind
from bot.composing import Showing, composers
from bot.following import Follower
from bot.store.memory import MemoryStore
from bot.telling.picture import Picture
from collectors.facts.redaction import Redactor
from commands.rows import Claim, ClaimState
from tests.support.yard import NOON, Hands

SHOWING = Showing(rules=dict, training=lambda *_: None, blind=lambda _: {})
CLAIM = Claim(
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
        await unit.claims.put(CLAIM)
    await Follower(store, {}, Hands(), redact=Redactor(()), channel="C_GPU").look()
    return store


@pytest.mark.parametrize("standing", [ClaimState.ASKED, ClaimState.SNOOZED, ClaimState.KEPT])
async def test_telling_rests_when_the_time_of_a_claim_is_up(standing: ClaimState) -> None:
    store = await asked()
    async with store.unit() as unit:
        await unit.claims.put(replace(CLAIM, standing=standing))
    picture = Picture(store, composers(SHOWING))
    await picture.refresh(NOON)
    if standing is not ClaimState.KEPT:
        assert picture.next_due() == CLAIM.grace_until
    await picture.refresh(CLAIM.grace_until)
    assert picture.next_due() is None


async def test_the_card_of_a_claim_that_is_kept_is_said_and_done() -> None:
    store = await asked()
    async with store.unit() as unit:
        await unit.claims.put(replace(CLAIM, standing=ClaimState.KEPT))
        (card,) = await unit.cards.find()
        composed = await composers(SHOWING)[CardKind.CLAIM](card, unit, NOON)
    assert composed.is_settled


async def test_a_claim_that_is_open_again_has_a_live_card_again() -> None:
    store = await asked()
    async with store.unit() as unit:
        (card,) = await unit.cards.find()
        await unit.cards.put(replace(card, ts="1.1", is_settled=True))
    await Follower(store, {}, Hands(), redact=Redactor(()), channel="C_GPU").look()
    async with store.unit() as unit:
        (card,) = await unit.cards.find()
    assert (card.ts, card.is_settled) == ("1.1", False)
