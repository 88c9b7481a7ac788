"""This file proves that cards are made to match and lines are told once, when all goes well."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from alerts.cards.message import Color
from tests.support.chat import START, Fault

pytestmark = pytest.mark.looptime


async def test_a_new_card_is_posted_and_then_edited(yard: Any) -> None:
    async with yard.telling():
        await yard.truth("t1", "queued")
        await asyncio.sleep(1)
        assert yard.chat.said("C1") == ["queued"]
        await yard.truth("t1", "running")
        await asyncio.sleep(1)
    assert yard.chat.said("C1") == ["running"]
    told = await yard.card("t1")
    assert (told.message_id, told.state) == ("000001", "live")


async def test_nothing_is_sent_when_nothing_changed(yard: Any) -> None:
    await yard.truth("t1", "queued")
    for _life in range(3):
        async with yard.telling():
            await asyncio.sleep(100)
            await yard.truth("t1", "queued")
            await asyncio.sleep(100)
    assert [method for _, method, _ in yard.chat.calls] == ["post"]


async def test_many_changes_become_one_edit(yard: Any) -> None:
    async with yard.telling():
        await yard.truth("t1", "state 0")
        await asyncio.sleep(5)
        for number in range(200):
            await yard.truth("t1", f"state {number}")
        await asyncio.sleep(100)
    (message,) = yard.chat.messages.values()
    assert message.text == "state 199"
    assert message.edits <= 3


async def test_what_was_over_before_its_turn_is_told_as_it_is(yard: Any) -> None:
    await yard.truth("t1", "resolved", color=Color.GOOD, over=True)
    async with yard.telling():
        await asyncio.sleep(5)
    assert yard.chat.said("C1") == ["resolved"]
    assert (await yard.card("t1")).state == "final"


async def test_a_settled_card_that_is_live_again_is_edited_again(yard: Any) -> None:
    async with yard.telling():
        await yard.truth("t1", "resolved", over=True)
        await asyncio.sleep(5)
        await yard.truth("t1", "fires again", is_final=False)
        await asyncio.sleep(5)
    assert yard.chat.said("C1") == ["fires again"]


async def test_a_card_changes_when_it_is_due_without_any_row_changing(yard: Any) -> None:
    async with yard.telling():
        await yard.truth("t1", "hot", changes_at=START + timedelta(minutes=5))
        await asyncio.sleep(299)
        assert yard.chat.said("C1") == ["hot"]
        await asyncio.sleep(3)
    assert yard.chat.said("C1") == ["hot since long"]


async def test_a_card_with_nothing_to_say_is_settled_in_silence(yard: Any) -> None:
    async with yard.telling():
        told = await yard.truth("t1", "x")
        async with yard.store.unit() as unit:
            await unit.launches.delete("t1")
        await asyncio.sleep(2)
    assert yard.chat.said("C1") == []
    assert (await yard.card("t1")).is_final
    assert told.message_id == ""


async def test_lines_stand_in_the_thread_of_their_card_in_order(yard: Any) -> None:
    async with yard.telling():
        for number in range(4):
            await yard.truth("t1", "running", line=f"event {number}")
        await asyncio.sleep(10)
    assert yard.chat.said("C1") == ["running"]
    assert yard.chat.said("C1", "000001") == [f"event {number}" for number in range(4)]


async def test_the_last_line_of_a_card_that_is_over_is_told(yard: Any) -> None:
    async with yard.telling():
        await yard.truth("t1", "running")
        await asyncio.sleep(5)
        await yard.truth("t1", "done", over=True, line="it is done")
        await asyncio.sleep(5)
    assert yard.chat.said("C1") == ["done"]
    assert yard.chat.said("C1", "000001") == ["it is done"]


async def test_a_child_card_waits_for_its_parent_and_stands_in_its_thread(yard: Any) -> None:
    parent = await yard.truth("z-parent", "incident")
    yard.chat.faults("post", Fault.DOWN)
    await yard.truth("a-child", "plan", parent=parent.id, color=Color.CRITICAL)
    async with yard.telling():
        await asyncio.sleep(10)
    assert yard.chat.said("C1") == ["incident"]
    assert yard.chat.said("C1", (await yard.card("z-parent")).message_id) == ["plan"]


async def test_new_cards_go_before_edits_and_the_worst_first(yard: Any) -> None:
    for number, tone in enumerate([Color.INFO, Color.CRITICAL, Color.GOOD, Color.WARNING]):
        await yard.truth(f"t{number}", tone.value, color=tone)
    async with yard.telling():
        await asyncio.sleep(10)
    assert yard.chat.said("C1") == ["critical", "warning", "info", "good"]


async def test_the_chat_never_has_to_say_that_we_are_too_fast(yard: Any) -> None:
    async with yard.telling():
        for round_ in range(3):
            for number in range(100):
                await yard.truth(f"t{number}", f"state {round_}", channel=f"C{number % 4}")
            await asyncio.sleep(40)
        await asyncio.sleep(200)
    assert yard.chat.too_fast == 0
    assert sorted(message.text for message in yard.chat.messages.values()) == ["state 2"] * 100
