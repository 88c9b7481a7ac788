"""This file tests how long the card of a deed lives: not for ever, and again once the deed is undone."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from alerts.cards.posted import CardKind, PostedCard, card_id
from bot.delivery.card_entries import Composed
from bot.delivery.composers import PLAN_CARD_LIFETIME, CardContext, composers
from commands.plans.plan import Plan
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import CLUSTER, NOON, Yard, a_node_tree, told, yard_before


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with KubernetesLookalike.running(controllers=False) as kube:
        kube.create(a_node_tree("gpu-a01"), keep_status=True)
        async with yard_before(kube.kubeconfig(tmp_path / "kubeconfig")) as yard:
            yield yard


def a_card(plan: Plan) -> PostedCard:
    id = card_id(CardKind.PLAN, plan.id, "C_GPU")
    return PostedCard(
        id=id, cluster=CLUSTER, kind=CardKind.PLAN, row_id=plan.id, channel="C_GPU", message_id="1.1"
    )


async def composed(yard: Yard, card: PostedCard) -> Composed:
    showing = CardContext(rules=dict, training=lambda *_: None, blind=lambda _: {})
    async with yard.store.unit() as unit:
        return await composers(showing)[card.kind](card, unit, yard.clock.now())


async def test_a_deed_that_can_be_undone_is_said_and_done_after_a_day(yard: Yard) -> None:
    card = a_card(await yard.do("node cordon gpu-a01"))
    fresh = await composed(yard, card)
    assert (fresh.is_final, fresh.next_due) == (False, NOON + PLAN_CARD_LIFETIME)
    yard.clock.move(PLAN_CARD_LIFETIME)
    old = await composed(yard, card)
    assert (old.is_final, old.next_due, old.message) == (True, None, fresh.message)


async def test_a_deed_that_is_undone_later_loses_its_button(yard: Yard) -> None:
    plan = await yard.do("node cordon gpu-a01")
    yard.clock.move(2 * PLAN_CARD_LIFETIME)
    async with yard.store.unit() as unit:
        await unit.cards.put(replace(a_card(plan), is_final=True))
    await yard.do(f"plan undo {plan.id}")
    async with yard.store.unit() as unit:
        (card,) = await unit.cards.find()
    assert not card.is_final
    view = (await composed(yard, card)).message
    assert view is not None
    assert "Undo" not in told(view)
