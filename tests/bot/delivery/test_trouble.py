"""This file proves what telling does about each way in which a chat can fail."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from bot.delivery.retry import RetryPolicy
from tests.support.chat import Fault
from tests.support.rows import a_line

pytestmark = pytest.mark.looptime


@pytest.mark.parametrize(
    "fault",
    [Fault.LOST_REPLY, Fault.LOST_CALL, Fault.LATE, Fault.HANGS, Fault.BUSY, Fault.DOWN],
    ids=lambda fault: str(fault.value),
)
async def test_a_card_is_told_once_whatever_happens_to_its_post(yard: Any, fault: Fault) -> None:
    yard.chat.faults("post", fault)
    await yard.truth("t1", "queued", line="it began")
    async with yard.telling():
        await asyncio.sleep(120)
    assert yard.chat.said("C1") == ["queued"]
    assert yard.chat.said("C1", (await yard.card("t1")).message_id) == ["it began"]


@pytest.mark.parametrize(
    "fault",
    [Fault.LOST_REPLY, Fault.LOST_CALL, Fault.LATE, Fault.HANGS, Fault.BUSY, Fault.DOWN],
    ids=lambda fault: str(fault.value),
)
async def test_a_line_is_told_once_whatever_happens_to_its_post(yard: Any, fault: Fault) -> None:
    yard.chat.faults("post", None, fault)
    await yard.truth("t1", "queued", line="first")
    await yard.truth("t1", "queued", line="second")
    async with yard.telling():
        await asyncio.sleep(120)
    assert yard.chat.said("C1", "000001") == ["first", "second"]


async def test_the_pause_that_the_chat_asks_for_is_kept_to_the_second(yard: Any) -> None:
    yard.chat.faults("post", Fault.BUSY)
    await yard.truth("t1", "queued")
    async with yard.telling():
        await asyncio.sleep(30)
    first, second = [at for at, method, _ in yard.chat.calls if method == "post"]
    assert second - first == pytest.approx(7.05)


async def test_an_edit_that_fails_is_made_again_with_the_newest_state(yard: Any) -> None:
    yard.chat.faults("edit", Fault.DOWN, Fault.LOST_REPLY, Fault.BUSY, Fault.LOST_CALL)
    async with yard.telling():
        await yard.truth("t1", "state 0")
        await asyncio.sleep(2)
        await yard.truth("t1", "state 1")
        await asyncio.sleep(0.5)
        await yard.truth("t1", "state 2")
        await asyncio.sleep(60)
    assert yard.chat.said("C1") == ["state 2"]
    assert yard.chat.messages["000001"].edits <= 2


async def test_a_card_that_somebody_deleted_is_posted_anew(yard: Any) -> None:
    async with yard.telling():
        await yard.truth("t1", "queued")
        await asyncio.sleep(2)
        yard.chat.remove("queued")
        await yard.truth("t1", "running", line="it runs")
        await asyncio.sleep(20)
    assert yard.chat.said("C1") == ["running"]
    assert yard.chat.said("C1", (await yard.card("t1")).message_id) == ["it runs"]


async def test_a_card_that_cannot_be_edited_any_more_is_posted_anew(yard: Any) -> None:
    yard.chat.faults("edit", Fault.GONE)
    async with yard.telling():
        await yard.truth("t1", "queued")
        await asyncio.sleep(2)
        await yard.truth("t1", "running")
        await asyncio.sleep(20)
    assert yard.chat.said("C1") == ["queued", "running"]


async def test_twins_are_reduced_to_the_eldest(yard: Any) -> None:
    yard.chat.faults("post", Fault.LATE, Fault.LOST_REPLY)
    yard.chat.faults("find", None, Fault.DOWN, Fault.DOWN)
    yard.chat.faults("delete", Fault.DOWN, Fault.LOST_REPLY)
    await yard.truth("t1", "queued")
    # A patience that is shorter than the chat is slow makes twins.
    async with yard.telling(retry=RetryPolicy(doubt=timedelta(seconds=1.2), answer=timedelta(seconds=1))):
        await asyncio.sleep(60)
    assert yard.chat.said("C1") == ["queued"]
    assert len(yard.chat.messages) == 2
    assert (await yard.card("t1")).message_id == "000001"


async def test_an_archived_channel_is_noted_tried_seldom_and_blocks_nobody(yard: Any) -> None:
    yard.chat.closed.add("C1")
    for number in range(5):
        await yard.truth(f"t{number}", "queued")
    await yard.truth("other", "running", channel="C2")
    async with yard.telling() as telling:
        await asyncio.sleep(1500)
        assert yard.chat.said("C2") == ["running"]
        assert len([call for call in yard.chat.calls if call[2] == "C1"]) == 3
        assert [card.error for card in [await yard.card(f"t{number}") for number in range(5)]].count(
            "is_archived"
        ) >= 1
        yard.chat.closed.clear()
        telling.retry_now("C1")
        await asyncio.sleep(20)
    assert yard.chat.said("C1") == ["queued"] * 5
    assert {(await yard.card(f"t{number}")).error for number in range(5)} == {""}


async def test_a_view_that_is_refused_waits_until_it_changes_and_others_pass(yard: Any) -> None:
    yard.chat.faults("post", Fault.REFUSED)
    async with yard.telling():
        await yard.truth("t1", "bad view")
        await asyncio.sleep(1)
        await yard.truth("t2", "good view")
        await asyncio.sleep(5)
        assert yard.chat.said("C1") == ["good view"]
        assert (await yard.card("t1")).error == "invalid_blocks"
        await yard.truth("t1", "better view")
        await asyncio.sleep(5)
    assert yard.chat.said("C1") == ["good view", "better view"]
    assert (await yard.card("t1")).error == ""


async def test_a_refused_line_lets_the_next_one_pass_and_is_tried_again(yard: Any) -> None:
    yard.chat.faults("post", None, Fault.REFUSED)
    await yard.truth("t1", "queued", line="first")
    await yard.truth("t1", "queued", line="second")
    async with yard.telling():
        await asyncio.sleep(30)
        assert yard.chat.said("C1", "000001") == ["second"]
        await asyncio.sleep(700)
    assert yard.chat.said("C1", "000001") == ["second", "first"]


async def test_who_may_not_speak_is_silent_until_they_may(yard: Any) -> None:
    leading = [False]
    await yard.truth("t1", "queued")
    async with yard.telling(may_send=lambda: leading[0]):
        await asyncio.sleep(30)
        assert yard.chat.calls == []
        leading[0] = True
        await asyncio.sleep(30)
    assert yard.chat.said("C1") == ["queued"]


async def test_a_broken_composer_silences_only_its_own_card(yard: Any) -> None:
    await yard.truth("t1", "queued")
    await yard.truth("t2", "broken")
    async with yard.store.unit() as unit:
        row = await unit.launches.get("t2")
        assert row is not None
        await unit.launches.put(type(row)(**{**_fields(row), "reported_reason": "no such color"}))
    async with yard.telling():
        await asyncio.sleep(10)
        assert yard.chat.said("C1") == ["queued"]
        await yard.truth("t2", "mended")
        await asyncio.sleep(10)
    assert yard.chat.said("C1") == ["queued", "mended"]


async def test_what_begins_again_while_its_end_is_being_told_is_not_settled(yard: Any) -> None:
    told = await yard.truth("t1", "over", over=True)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(yard.reconciler().run())  # nobody tells it what changes
        await asyncio.sleep(0.02)
        await yard.truth("t1", "begins again")
        await asyncio.sleep(5)
        task.cancel()
    assert yard.chat.said("C1") == ["begins again"]
    assert not (await yard.card("t1")).is_final
    assert told.message_id == ""


async def test_who_stops_leading_between_the_intent_and_the_post_does_not_post(yard: Any) -> None:
    leads = iter([True])
    await yard.truth("t1", "queued")
    async with yard.telling(may_send=lambda: next(leads, False)):
        await asyncio.sleep(60)
    assert yard.chat.calls == []
    assert (await yard.card("t1")).intent_at is not None
    async with yard.telling():  # the next leader finds out that nothing was posted
        await asyncio.sleep(60)
    assert yard.chat.said("C1") == ["queued"]


async def test_after_a_store_that_failed_it_can_be_run_again(yard: Any) -> None:
    await yard.truth("t1", "queued", line="it began")
    reconciler = yard.reconciler()
    opened, units = yard.store.unit, 0

    def unit() -> Any:
        nonlocal units
        units += 1
        if units in (1, 3, 5, 6, 8):
            raise OSError("the disk is full")
        return opened()

    yard.store.unit = unit
    for _life in range(5):
        with pytest.raises(ExceptionGroup, match="unhandled"):
            await reconciler.run()
    yard.store.unit = opened
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(reconciler.run())
        await asyncio.sleep(120)
        task.cancel()
    assert yard.chat.said("C1") == ["queued"]
    assert yard.chat.said("C1", "000001") == ["it began"]


def _fields(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


async def test_a_line_that_was_forgotten_before_its_turn_ends_nothing(yard: Any) -> None:
    """Under a card that had nothing to say, so was never told; pruning rings no bell."""
    async with yard.telling():
        silent = await yard.truth("t1", "x")
        async with yard.store.unit() as unit:
            await unit.launches.delete("t1")
        await asyncio.sleep(2)
        for number in range(3):
            await yard.truth(f"busy{number}", "busy")
        async with yard.store.unit() as unit:
            await unit.replies.add(a_line(silent, "late", said="late", at=yard.clock.now()))
        await asyncio.sleep(0.1)
        await yard.store.prune(yard.clock.now() + timedelta(days=1))
        await asyncio.sleep(10)
    assert yard.chat.said("C1") == ["busy"] * 3
