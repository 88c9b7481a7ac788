"""The lifetime of a plan's card: final after a day, live again once the plan is undone."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from alerts.cards.posted import CardKind, PostedCard, card_id
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import CardContext, Composed
from bot.cards.plan_cards import PLAN_CARD_LIFETIME
from commands.execution.plan import Plan
from tests.support.yard import CLUSTER, NOON, Yard, text_of, yard_on


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_on(tmp_path, "gpu-a01") as yard:
        yield yard


def a_card(plan: Plan) -> PostedCard:
    id = card_id(CardKind.PLAN, plan.id, "C_GPU")
    return PostedCard(
        id=id, cluster=CLUSTER, kind=CardKind.PLAN, row_id=plan.id, channel="C_GPU", message_id="1.1"
    )


async def composed(yard: Yard, card: PostedCard) -> Composed:
    context = CardContext(rules=dict, training=lambda *_: None, blind=lambda *_: {})
    async with yard.store.unit() as unit:
        return await CardCatalogue(context).compose(card, unit, yard.clock.now())


async def test_the_card_of_a_plan_that_can_be_undone_is_final_after_a_day(yard: Yard) -> None:
    card = a_card(await yard.do("node cordon gpu-a01"))
    fresh = await composed(yard, card)
    assert (fresh.is_final, fresh.next_due) == (False, NOON + PLAN_CARD_LIFETIME)
    yard.clock.move(PLAN_CARD_LIFETIME)
    old = await composed(yard, card)
    assert (old.is_final, old.next_due, old.message) == (True, None, fresh.message)


async def test_the_card_of_a_plan_that_is_undone_later_loses_its_button(yard: Yard) -> None:
    plan = await yard.do("node cordon gpu-a01")
    yard.clock.move(2 * PLAN_CARD_LIFETIME)
    async with yard.store.unit() as unit:
        await unit.rows(PostedCard).put(replace(a_card(plan), is_final=True))
    await yard.do(f"plan undo {plan.id}")
    async with yard.store.unit() as unit:
        (card,) = await unit.rows(PostedCard).find()
    assert not card.is_final
    message = (await composed(yard, card)).message
    assert message is not None
    assert "Undo" not in text_of(message)
