"""Delivery without faults: cards match the desired state, and each reply is posted once."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from alerts.cards.message import Color
from alerts.cards.posted import PostedCard, ThreadReply
from bot.cards.card_catalogue import CardCatalogue
from bot.cards.card_kind import Composed
from tests.support.chat import START, Fault

pytestmark = pytest.mark.looptime


async def test_a_new_card_is_posted_and_then_edited(yard: Any) -> None:
    async with yard.delivering():
        await yard.put("t1", "queued")
        await asyncio.sleep(1)
        assert yard.chat.said("C1") == ["queued"]
        await yard.put("t1", "running")
        await asyncio.sleep(1)
    assert yard.chat.said("C1") == ["running"]
    card = await yard.card("t1")
    assert (card.message_id, card.state) == ("000001", "live")


async def test_nothing_is_sent_when_nothing_changed(yard: Any) -> None:
    await yard.put("t1", "queued")
    for _restart in range(3):
        async with yard.delivering():
            await asyncio.sleep(100)
            await yard.put("t1", "queued")
            await asyncio.sleep(100)
    assert [method for _, method, _ in yard.chat.calls] == ["post"]


async def test_of_many_live_cards_only_the_one_that_changed_is_composed(
    yard: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    composed: list[str] = []
    compose = CardCatalogue.compose

    async def noted(self: CardCatalogue, card: PostedCard, *more: Any) -> Composed:
        composed.append(card.row_id)
        return await compose(self, card, *more)

    monkeypatch.setattr(CardCatalogue, "compose", noted)
    async with yard.delivering():
        for number in range(12):
            await yard.put(f"t{number}", "queued")
        await asyncio.sleep(60)
        composed.clear()
        for minute in range(12):
            await yard.put("t7", f"running for {minute} min")
            await asyncio.sleep(60)
    assert set(composed) == {"t7"}
    assert len(composed) <= 2 * 12  # before it is sent it is composed once more


async def test_many_changes_become_a_few_edits(yard: Any) -> None:
    async with yard.delivering():
        await yard.put("t1", "state-0")
        await asyncio.sleep(5)
        for number in range(200):
            await yard.put("t1", f"state-{number}")
        await asyncio.sleep(100)
    (message,) = yard.chat.messages.values()
    assert message.text == "state-199"
    assert message.edits <= 3


async def test_a_card_that_is_over_before_it_is_posted_is_posted_as_final(yard: Any) -> None:
    await yard.put("t1", "resolved", color=Color.GOOD, over=True)
    async with yard.delivering():
        await asyncio.sleep(5)
    assert yard.chat.said("C1") == ["resolved"]
    assert (await yard.card("t1")).state == "final"


async def test_a_final_card_that_is_live_again_is_edited_again(yard: Any) -> None:
    async with yard.delivering():
        await yard.put("t1", "resolved", over=True)
        await asyncio.sleep(5)
        await yard.put("t1", "fires again", is_final=False)
        await asyncio.sleep(5)
    assert yard.chat.said("C1") == ["fires again"]


async def test_a_card_changes_when_it_is_due_without_a_changed_row(yard: Any) -> None:
    async with yard.delivering():
        await yard.put("t1", "hot", changes_at=START + timedelta(minutes=5))
        await asyncio.sleep(299)
        assert yard.chat.said("C1") == ["hot"]
        await asyncio.sleep(3)
    assert yard.chat.said("C1") == ["hot for long"]


async def test_a_card_with_nothing_to_show_is_final_and_not_posted(yard: Any) -> None:
    async with yard.delivering():
        card = await yard.put_without_launch("t1")
        await asyncio.sleep(2)
    assert yard.chat.said("C1") == []
    assert (await yard.card("t1")).is_final
    assert card.message_id == ""


async def test_replies_are_posted_in_order_in_the_thread_of_their_card(yard: Any) -> None:
    async with yard.delivering():
        for number in range(4):
            await yard.put("t1", "running", reply=f"event {number}")
        await asyncio.sleep(10)
    assert yard.chat.said("C1") == ["running"]
    assert yard.chat.said("C1", "000001") == [f"event {number}" for number in range(4)]


async def test_the_last_reply_of_a_final_card_is_posted(yard: Any) -> None:
    async with yard.delivering():
        await yard.put("t1", "running")
        await asyncio.sleep(5)
        await yard.put("t1", "done", over=True, reply="it is done")
        await asyncio.sleep(5)
    assert yard.chat.said("C1") == ["done"]
    assert yard.chat.said("C1", "000001") == ["it is done"]


async def test_a_child_card_waits_for_its_parent_and_is_posted_in_its_thread(yard: Any) -> None:
    parent = await yard.put("z-parent", "incident")
    yard.chat.faults("post", Fault.DOWN)
    await yard.put("a-child", "plan", parent=parent.id, color=Color.CRITICAL)
    async with yard.delivering():
        await asyncio.sleep(10)
    assert yard.chat.said("C1") == ["incident"]
    assert yard.chat.said("C1", (await yard.card("z-parent")).message_id) == ["plan"]


async def test_new_cards_are_posted_by_severity(yard: Any) -> None:
    for number, color in enumerate([Color.INFO, Color.CRITICAL, Color.GOOD, Color.WARNING]):
        await yard.put(f"t{number}", color.value, color=color)
    async with yard.delivering():
        await asyncio.sleep(10)
    assert yard.chat.said("C1") == ["critical", "warning", "info", "good"]


async def test_the_rate_limits_of_the_chat_are_never_exceeded(yard: Any) -> None:
    async with yard.delivering():
        for round_ in range(3):
            for number in range(100):
                await yard.put(f"t{number}", f"state-{round_}", channel=f"C{number % 4}")
            await asyncio.sleep(40)
        await asyncio.sleep(200)
    assert yard.chat.too_fast == 0
    assert sorted(message.text for message in yard.chat.messages.values()) == ["state-2"] * 100


async def test_a_reply_of_which_nothing_is_stored_is_given_up_and_lets_others_pass(yard: Any) -> None:
    await yard.put("t1", "hot")
    card = await yard.card("t1")
    async with yard.store.unit() as unit:
        empty = ThreadReply(id=f"{card.id}#1", cluster="lab", card=card.id, event=1, at=yard.clock.now())
        await unit.rows(ThreadReply).put(empty)
    await yard.put("t1", "hot", reply="2")
    async with yard.delivering():
        await asyncio.sleep(10)
    async with yard.store.unit() as unit:
        given_up = await unit.rows(ThreadReply).get(empty.id)
    assert yard.chat.said("C1", "000001") == ["2"]
    assert given_up is not None
    assert given_up.error == "what it says is no longer stored"
