"""A card whose due time has passed is not waited for again, or the reconciler would never be idle."""

from dataclasses import replace

import pytest

from alerts.cards.posted import CardKind, PostedCard
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext, CardDefinition, Composed
from bot.delivery.desired_state import DesiredState
from bot.jobs.launch_watcher import LaunchWatcher
from collectors.facts.redaction import Redactor
from collectors.internal_errors import InternalErrors
from commands.models import ReclaimRequest, ReclaimState
from tests.support.memory_store import MemoryStore
from tests.support.rows import a_request
from tests.support.yard import NOON, Hands

CONTEXT = CardContext(rules=dict, training=lambda *_: None, blind=lambda *_: {})
REQUEST = a_request(NOON, training="vision-detr/detr")


async def a_store() -> MemoryStore:
    """A store with the request and its card."""
    store = MemoryStore()
    async with store.unit() as unit:
        await unit.rows(ReclaimRequest).put(REQUEST)
    await LaunchWatcher(store, {}, Hands(), redact=Redactor(()), channel="C_GPU").check()
    return store


@pytest.mark.parametrize("state", [ReclaimState.ASKED, ReclaimState.SNOOZED, ReclaimState.KEPT])
async def test_nothing_is_due_once_the_grace_of_a_request_is_over(state: ReclaimState) -> None:
    store = await a_store()
    async with store.unit() as unit:
        await unit.rows(ReclaimRequest).put(replace(REQUEST, state=state))
    desired_state = DesiredState(store, CardCatalogue(CONTEXT), InternalErrors())
    await desired_state.refresh(NOON)
    if state is not ReclaimState.KEPT:
        assert desired_state.next_due() == REQUEST.grace_until
    await desired_state.refresh(REQUEST.grace_until)
    assert desired_state.next_due() is None


async def test_the_card_of_a_kept_request_is_final() -> None:
    store = await a_store()
    async with store.unit() as unit:
        await unit.rows(ReclaimRequest).put(replace(REQUEST, state=ReclaimState.KEPT))
        (card,) = await unit.rows(PostedCard).find()
        composed = await CardCatalogue(CONTEXT).compose(card, unit, NOON)
    assert composed.is_final


async def test_a_reopened_request_has_a_live_card_again() -> None:
    store = await a_store()
    async with store.unit() as unit:
        (card,) = await unit.rows(PostedCard).find()
        await unit.rows(PostedCard).put(replace(card, message_id="1.1", is_final=True))
    await LaunchWatcher(store, {}, Hands(), redact=Redactor(()), channel="C_GPU").check()
    async with store.unit() as unit:
        (card,) = await unit.rows(PostedCard).find()
    assert (card.message_id, card.is_final) == ("1.1", False)


async def test_a_card_that_cannot_be_composed_when_it_is_due_is_tried_again_later() -> None:
    async def breaks(*_: object) -> Composed:
        raise ValueError("odd row")

    broken = CardCatalogue(
        CONTEXT, [CardDefinition(kind=CardKind.RECLAIM_REQUEST, compose=breaks, depends_on={})]
    )
    desired_state = DesiredState(await a_store(), broken, InternalErrors())
    await desired_state.refresh(NOON)
    (entry,) = desired_state.entries.values()
    entry.due = NOON
    await desired_state.refresh(NOON)
    assert desired_state.next_due() is None
    assert desired_state.next_retry() is not None
