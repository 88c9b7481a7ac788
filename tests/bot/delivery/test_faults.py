"""Delivery in each way in which a chat can fail."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from alerts.cards.posted import ThreadReply
from bot.delivery.journal import DeliveryJournal
from bot.delivery.retry import RetryPolicy
from tests.support.chat import Fault
from tests.support.rows import a_line

pytestmark = pytest.mark.looptime


@pytest.mark.parametrize(
    "fault",
    [Fault.LOST_REPLY, Fault.LOST_CALL, Fault.LATE, Fault.HANGS, Fault.BUSY, Fault.DOWN],
    ids=lambda fault: str(fault.value),
)
async def test_a_card_is_posted_once_despite_a_fault(yard: Any, fault: Fault) -> None:
    yard.chat.faults("post", fault)
    await yard.put("t1", "queued", reply="it began")
    async with yard.delivering():
        await asyncio.sleep(120)
    assert yard.chat.said("C1") == ["queued"]
    assert yard.chat.said("C1", (await yard.card("t1")).message_id) == ["it began"]


@pytest.mark.parametrize(
    "fault",
    [Fault.LOST_REPLY, Fault.LOST_CALL, Fault.LATE, Fault.HANGS, Fault.BUSY, Fault.DOWN],
    ids=lambda fault: str(fault.value),
)
async def test_a_reply_is_posted_once_despite_a_fault(yard: Any, fault: Fault) -> None:
    yard.chat.faults("post", None, fault)
    await yard.put("t1", "queued", reply="first")
    await yard.put("t1", "queued", reply="second")
    async with yard.delivering():
        await asyncio.sleep(120)
    assert yard.chat.said("C1", "000001") == ["first", "second"]


async def test_a_post_whose_intent_was_stored_late_is_not_followed_too_soon(
    yard: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy store may take longer for one intent than for the next: the chat counts what arrives."""
    save, delays = DeliveryJournal.save_card, iter([0.7])

    async def saves_late(self: DeliveryJournal, entry: Any, **changes: Any) -> bool:
        await asyncio.sleep(next(delays, 0))
        return await save(self, entry, **changes)

    monkeypatch.setattr(DeliveryJournal, "save_card", saves_late)
    await yard.put("t1", "queued")
    await yard.put("t2", "queued")
    async with yard.delivering():
        await asyncio.sleep(10)
    assert (yard.chat.too_fast, len(yard.chat.said("C1"))) == (0, 2)


async def test_retry_after_is_honoured_to_the_second(yard: Any) -> None:
    yard.chat.faults("post", Fault.BUSY)
    await yard.put("t1", "queued")
    async with yard.delivering():
        await asyncio.sleep(30)
    first, second = [at for at, method, _ in yard.chat.calls if method == "post"]
    assert second - first == pytest.approx(7.05)


async def test_a_failed_edit_is_retried_with_the_newest_state(yard: Any) -> None:
    yard.chat.faults("edit", Fault.DOWN, Fault.LOST_REPLY, Fault.BUSY, Fault.LOST_CALL)
    async with yard.delivering():
        await yard.put("t1", "state-0")
        await asyncio.sleep(2)
        await yard.put("t1", "state-1")
        await asyncio.sleep(0.5)
        await yard.put("t1", "state-2")
        await asyncio.sleep(60)
    assert yard.chat.said("C1") == ["state-2"]
    assert yard.chat.messages["000001"].edits <= 2


async def test_a_card_that_somebody_deleted_is_posted_again(yard: Any) -> None:
    async with yard.delivering():
        await yard.put("t1", "queued")
        await asyncio.sleep(2)
        yard.chat.remove("queued")
        await yard.put("t1", "running", reply="it runs")
        await asyncio.sleep(20)
    assert yard.chat.said("C1") == ["running"]
    assert yard.chat.said("C1", (await yard.card("t1")).message_id) == ["it runs"]


async def test_a_card_that_can_no_longer_be_edited_is_posted_again(yard: Any) -> None:
    yard.chat.faults("edit", Fault.GONE)
    async with yard.delivering():
        await yard.put("t1", "queued")
        await asyncio.sleep(2)
        await yard.put("t1", "running")
        await asyncio.sleep(20)
    assert yard.chat.said("C1") == ["queued", "running"]


async def test_duplicates_are_reduced_to_the_oldest(yard: Any) -> None:
    yard.chat.faults("post", Fault.LATE, Fault.LOST_REPLY)
    yard.chat.faults("find", None, Fault.DOWN, Fault.DOWN)
    yard.chat.faults("delete", Fault.DOWN, Fault.LOST_REPLY)
    await yard.put("t1", "queued")
    # Timeouts shorter than the delay of the chat make duplicates.
    async with yard.delivering(
        retry=RetryPolicy(outcome_timeout=timedelta(seconds=1.2), answer=timedelta(seconds=1))
    ):
        await asyncio.sleep(60)
    assert yard.chat.said("C1") == ["queued"]
    assert len(yard.chat.messages) == 2
    assert (await yard.card("t1")).message_id == "000001"


async def test_nothing_is_sent_until_sending_is_allowed(yard: Any) -> None:
    leading = [False]
    await yard.put("t1", "queued")
    async with yard.delivering(may_send=lambda: leading[0]):
        await asyncio.sleep(30)
        assert yard.chat.calls == []
        leading[0] = True
        await asyncio.sleep(30)
    assert yard.chat.said("C1") == ["queued"]


async def test_a_leader_that_loses_its_lease_between_intent_and_post_does_not_post(yard: Any) -> None:
    leads = iter([True])
    await yard.put("t1", "queued")
    async with yard.delivering(may_send=lambda: next(leads, False)):
        await asyncio.sleep(60)
    assert yard.chat.calls == []
    assert (await yard.card("t1")).intent_at is not None
    async with yard.delivering():  # the next leader finds that nothing was posted
        await asyncio.sleep(60)
    assert yard.chat.said("C1") == ["queued"]


async def test_a_reconciler_can_run_again_after_store_errors(yard: Any) -> None:
    await yard.put("t1", "queued", reply="it began")
    reconciler = yard.reconciler()
    open_unit, units = yard.store.unit, 0

    def unit() -> Any:
        nonlocal units
        units += 1
        if units in (1, 3, 5, 6, 8):
            raise OSError("the disk is full")
        return open_unit()

    yard.store.unit = unit
    for _restart in range(5):
        with pytest.raises(ExceptionGroup, match="unhandled"):
            await reconciler.run()
    yard.store.unit = open_unit
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(reconciler.run())
        await asyncio.sleep(120)
        task.cancel()
    assert yard.chat.said("C1") == ["queued"]
    assert yard.chat.said("C1", "000001") == ["it began"]


async def test_a_reply_that_is_pruned_before_it_is_posted_stops_nothing(yard: Any) -> None:
    """Its card had nothing to show and was never posted; pruning sends no change signal."""
    async with yard.delivering():
        silent = await yard.put_without_launch("t1")
        await asyncio.sleep(2)
        for number in range(3):
            await yard.put(f"busy{number}", "busy")
        async with yard.store.unit() as unit:
            await unit.rows(ThreadReply).add(a_line(silent, "late", said="late", at=yard.clock.now()))
        await asyncio.sleep(0.1)
        await yard.store.prune(yard.clock.now() + timedelta(days=1))
        await asyncio.sleep(10)
    assert yard.chat.said("C1") == ["busy"] * 3
