"""Refusals of a chat: of a channel, of everything, of a card or a reply. Each is tried again; nothing else waits."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from alerts.cards.message import Color
from alerts.cards.posted import ThreadReply
from tests.support.chat import Fault
from tests.support.rows import a_line

pytestmark = pytest.mark.looptime


async def test_an_archived_channel_is_recorded_retried_rarely_and_blocks_no_other(yard: Any) -> None:
    yard.chat.closed.add("C1")
    for number in range(5):
        await yard.put(f"t{number}", "queued")
    await yard.put("other", "running", channel="C2")
    async with yard.delivering() as reconciler:
        await asyncio.sleep(1500)
        assert yard.chat.said("C2") == ["running"]
        assert len([call for call in yard.chat.calls if call[2] == "C1"]) == 3
        assert [card.error for card in [await yard.card(f"t{number}") for number in range(5)]].count(
            "is_archived"
        ) >= 1
        yard.chat.closed.clear()
        reconciler.retry_now("slack:C1")
        await asyncio.sleep(20)
    assert yard.chat.said("C1") == ["queued"] * 5
    assert {(await yard.card(f"t{number}")).error for number in range(5)} == {""}


async def test_a_critical_card_is_retried_every_half_minute_and_takes_the_others_along(yard: Any) -> None:
    yard.chat.closed.add("C1")
    await yard.put("t1", "queued")
    await yard.put("t2", "queued")
    async with yard.delivering():
        await asyncio.sleep(40)
        assert len(yard.chat.calls) == 1
        await yard.put("t3", "burning", color=Color.CRITICAL)
        await asyncio.sleep(300)
        assert 10 <= len(yard.chat.calls) <= 12
        yard.chat.closed.clear()
        await asyncio.sleep(35)
    assert yard.chat.said("C1") == ["burning", "queued", "queued"]


async def test_a_refusal_of_the_whole_chat_ends_everywhere_when_one_call_works(yard: Any) -> None:
    for number in range(3):
        yard.chat.faults("post", Fault.REVOKED)
        await yard.put(f"t{number}", "queued", channel=f"C{number}")
    async with yard.delivering() as reconciler:
        await asyncio.sleep(30)
        assert len(yard.chat.calls) == 3
        reconciler.retry_now("slack:D_SOMEBODY")  # a writer elsewhere may know that the token works again
        await asyncio.sleep(5)
        for number in range(3):
            assert yard.chat.said(f"C{number}") == ["queued"]


async def test_a_refused_card_waits_until_it_changes_and_blocks_no_other(yard: Any) -> None:
    yard.chat.faults("post", Fault.REFUSED)
    async with yard.delivering():
        await yard.put("t1", "bad card")
        await asyncio.sleep(1)
        await yard.put("t2", "good card")
        await asyncio.sleep(5)
        assert yard.chat.said("C1") == ["good card"]
        assert (await yard.card("t1")).error == "invalid_blocks"
        await yard.put("t1", "better card")
        await asyncio.sleep(5)
    assert yard.chat.said("C1") == ["good card", "better card"]
    assert (await yard.card("t1")).error == ""


async def test_a_refused_reply_is_retried_and_does_not_block_the_next_one(yard: Any) -> None:
    yard.chat.faults("post", None, Fault.REFUSED)
    await yard.put("t1", "queued", reply="first")
    await yard.put("t1", "queued", reply="second")
    async with yard.delivering():
        await asyncio.sleep(30)
        assert yard.chat.said("C1", "000001") == ["second"]
        await asyncio.sleep(700)
    assert yard.chat.said("C1", "000001") == ["second", "first"]


async def put_refused_replies(yard: Any, count: int) -> None:
    """Store a card with so many replies that were refused."""
    card = await yard.put("t1", "queued")
    async with yard.store.unit() as unit:
        for number in range(count):
            line = a_line(card, f"old-{number:02}", said=f"refused {number}", at=yard.clock.now())
            await unit.rows(ThreadReply).add(replace(line, error="invalid_blocks"))


async def test_many_replies_that_an_earlier_process_was_refused_do_not_keep_a_new_one_back(yard: Any) -> None:
    await put_refused_replies(yard, 30)
    await yard.put("t1", "queued", reply="newest")
    await asyncio.sleep(120)  # all of them are late

    async with yard.delivering():
        await asyncio.sleep(30)

    assert yard.chat.said("C1", "000001")[0] == "newest"


async def test_of_several_replies_that_were_refused_each_is_tried_again(yard: Any) -> None:
    await put_refused_replies(yard, 3)
    yard.chat.faults("post", None, Fault.REFUSED)  # the card is taken, and the first of them is refused again

    async with yard.delivering():
        await asyncio.sleep(30)

    assert yard.chat.said("C1", "000001") == ["refused 1", "refused 2"]
