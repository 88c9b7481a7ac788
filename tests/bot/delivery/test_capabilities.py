"""Delivery does without what a notifier cannot do, and still loses nothing."""

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from alerts.cards.message import Color
from alerts.cards.posted import ThreadReply
from bot.delivery.notifier_protocol import Capabilities
from bot.delivery.rate_limiter import UNLIMITED
from tests.support.chat import CHAT, Fault
from tests.support.kill_points import Killer

pytestmark = pytest.mark.looptime

PLAIN = Capabilities(limits=UNLIMITED)


@pytest.fixture
def plain(yard: Any) -> Any:
    """A yard whose chat can only post."""
    return without_more(yard)


def without_more(yard: Any) -> Any:
    yard.chat.capabilities, yard.chat.seconds_a_post = PLAIN, 0.0
    return yard


def methods(yard: Any) -> set[str]:
    return {method for _, method, _ in yard.chat.calls}


async def test_without_edits_a_changed_card_is_posted_again(plain: Any) -> None:
    async with plain.delivering():
        await plain.put("t1", "queued")
        await asyncio.sleep(2)
        await plain.put("t1", "running")
        await asyncio.sleep(2)
        await plain.put("t1", "running")
        await asyncio.sleep(2)
    assert plain.chat.said("C1") == ["queued", "running"]
    assert (await plain.card("t1")).message_id == "000002"


async def test_without_threads_replies_count_as_said_by_their_card(plain: Any) -> None:
    async with plain.delivering():
        await plain.put("t1", "queued", reply="it began")
        await plain.put("t1", "queued", reply="it went on")
        await asyncio.sleep(5)
    assert plain.chat.said("C1") == ["queued"]
    async with plain.store.read() as snapshot:
        replies = await snapshot.rows(ThreadReply).find()
    assert [(reply.state, reply.message_id) for reply in replies] == [("posted", "000001")] * 2
    async with plain.delivering():
        await asyncio.sleep(5)
    assert len(plain.chat.calls) == 1


async def test_without_threads_a_card_under_another_waits_for_nobody(plain: Any) -> None:
    parent = await plain.put("parent", "incident")
    plain.chat.faults("post", Fault.DOWN)
    await plain.put("child", "plan", parent=parent.id)
    async with plain.delivering():
        await asyncio.sleep(10)
    assert sorted(plain.chat.said("C1")) == ["incident", "plan"]


@pytest.mark.parametrize("fault", [Fault.LOST_REPLY, Fault.LOST_CALL, Fault.LATE, Fault.HANGS])
async def test_without_find_what_may_be_lost_is_posted_again(plain: Any, fault: Fault) -> None:
    plain.chat.faults("post", fault)
    await plain.put("t1", "queued")
    async with plain.delivering():
        await asyncio.sleep(60)
    assert set(plain.chat.said("C1")) == {"queued"}
    assert len(plain.chat.calls) == 2
    assert methods(plain) == {"post"}


async def test_a_chat_that_asks_for_no_pause_is_not_called_without_end(plain: Any) -> None:
    """`Retry-After: 0`, or a date that has passed."""
    plain.chat.faults("post", *[Fault.BUSY_FOR_NO_TIME] * 10)
    await plain.put("t1", "queued")
    async with plain.delivering():
        await asyncio.sleep(5)
        assert len(plain.chat.calls) <= 6
        await asyncio.sleep(60)
    assert plain.chat.said("C1") == ["queued"]


async def test_a_notifier_that_finds_but_does_not_edit_posts_each_state_once(yard: Any) -> None:
    yard.chat.capabilities = replace(CHAT, edit=False)
    yard.chat.faults("post", Fault.LOST_REPLY, None, Fault.LOST_REPLY)
    async with yard.delivering():
        await yard.put("t1", "queued")
        await asyncio.sleep(60)
        await yard.put("t1", "running")
        await asyncio.sleep(60)
        await yard.put("t1", "done", over=True)
        await asyncio.sleep(60)
    assert yard.chat.said("C1") == ["queued", "running", "done"]
    assert (await yard.card("t1")).is_final


async def test_calls_run_at_once_up_to_the_notifiers_limit_and_one_at_a_time_for_a_card(yard: Any) -> None:
    yard.chat.capabilities = replace(CHAT, at_once=4, limits=UNLIMITED)
    yard.chat.seconds_a_post = 0.0
    for number in range(12):
        await yard.put(f"t{number}", "queued", reply="it began")
    async with yard.delivering():
        await asyncio.sleep(30)
    starts = [at for at, method, _ in yard.chat.calls if method == "post"]
    assert max(Counter(starts).values()) == 4
    assert sorted(yard.chat.said("C1")) == ["queued"] * 12
    for number in range(12):
        assert yard.chat.said("C1", (await yard.card(f"t{number}")).message_id) == ["it began"]


async def test_a_crash_at_any_point_loses_no_state(yard_factory: Any) -> None:
    """Without find, a state may be posted twice; the last post of each card is its last state."""
    for at in range(1, 10_000):
        yard = without_more(yard_factory())
        yard.chat.capabilities = replace(PLAIN, at_once=3)
        yard.chat.faults("post", Fault.LOST_REPLY, Fault.LOST_CALL)
        for number in range(4):
            await yard.put(f"t{number}", f"first {number}", reply="it began", color=Color.CRITICAL)
        reconciler = yard.reconciler()
        stop = yard.store.listen(reconciler.wake)

        async def later(yard: Any = yard) -> None:
            await asyncio.sleep(10)
            for number in range(4):
                await yard.put(f"t{number}", f"second {number}", over=True)
            await asyncio.sleep(10)

        was_killed = await Killer(at).execute(reconciler.run(), later)
        stop()
        async with yard.delivering():
            await asyncio.sleep(100)
        for number in range(4):
            seen = [text for text in yard.chat.said("C1") if text.endswith(str(number))]
            assert seen[-1] == f"second {number}", f"killed at point {at}"
            assert (await yard.card(f"t{number}")).is_final
        if not was_killed:
            assert at > 60
            return


async def test_a_card_of_a_channel_that_the_settings_no_longer_have_says_so_and_blocks_nobody(
    yard: Any,
) -> None:
    gone = await yard.put("t1", "queued")
    async with yard.store.unit() as unit:
        await unit.rows(type(gone)).put(replace(gone, channel="pager:duty"))
    await yard.put("t2", "queued")
    async with yard.delivering():
        await asyncio.sleep(5)
    assert (await yard.card("t1")).error == "the settings have no channel pager:duty"
    assert yard.chat.said("C1") == ["queued"]


async def test_what_people_may_have_got_already_is_repeated_seldom(plain: Any) -> None:
    plain.chat.capabilities = replace(PLAIN, repeats_reach_people=True)
    plain.chat.faults("post", *[Fault.LOST_REPLY] * 100)
    async with plain.delivering():
        await plain.put("t1", "queued")
        await asyncio.sleep(3600)
    assert 3 < plain.chat.said("C1").count("queued") <= 9
