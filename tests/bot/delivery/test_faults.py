"""Delivery in each way in which a chat can fail."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from alerts.cards.message import Color
from alerts.cards.posted import CardKind, PostedCard, ThreadReply
from bot.delivery.journal import DeliveryJournal
from bot.delivery.retry import RetryPolicy
from collectors.internal_errors import InternalErrors
from commands.models import Launch
from tests.support.chat import Fault
from tests.support.rows import a_card, a_line

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


async def test_many_replies_that_an_earlier_process_was_refused_do_not_keep_a_new_one_back(yard: Any) -> None:
    card = await yard.put("t1", "queued")
    async with yard.store.unit() as unit:
        for number in range(30):
            line = a_line(card, f"old-{number:02}", said=f"refused {number}", at=yard.clock.now())
            await unit.rows(ThreadReply).add(replace(line, error="invalid_blocks"))
    await yard.put("t1", "queued", reply="newest")
    await asyncio.sleep(120)  # all of them are late

    async with yard.delivering():
        await asyncio.sleep(30)

    assert yard.chat.said("C1", "000001")[0] == "newest"


async def test_of_several_replies_that_were_refused_each_is_tried_again(yard: Any) -> None:
    card = await yard.put("t1", "queued")
    async with yard.store.unit() as unit:
        for number in range(3):
            line = a_line(card, f"old-{number}", said=f"refused {number}", at=yard.clock.now())
            await unit.rows(ThreadReply).add(replace(line, error="invalid_blocks"))
    yard.chat.faults("post", None, Fault.REFUSED)  # the card is taken, and the first of them is refused again

    async with yard.delivering():
        await asyncio.sleep(30)

    assert yard.chat.said("C1", "000001") == ["refused 1", "refused 2"]


async def test_nothing_is_sent_until_sending_is_allowed(yard: Any) -> None:
    leading = [False]
    await yard.put("t1", "queued")
    async with yard.delivering(may_send=lambda: leading[0]):
        await asyncio.sleep(30)
        assert yard.chat.calls == []
        leading[0] = True
        await asyncio.sleep(30)
    assert yard.chat.said("C1") == ["queued"]


async def break_composer(yard: Any, id: str) -> None:
    async with yard.store.unit() as unit:
        row = await unit.rows(Launch).get(id)
        assert row is not None
        await unit.rows(Launch).put(type(row)(**{**_fields(row), "reported_reason": "no such color"}))


async def test_a_broken_composer_affects_only_its_own_card_which_says_so(yard: Any) -> None:
    await yard.put("t1", "queued")
    await yard.put("t2", "broken")
    await break_composer(yard, "t2")
    async with yard.delivering():
        await asyncio.sleep(10)
        assert yard.chat.said("C1") == ["queued"]  # the error may pass
        await asyncio.sleep(60)
        assert sorted(yard.chat.said("C1")) == ["This card of launch t2 cannot be shown", "queued"]
        await yard.put("t2", "fixed")
        await asyncio.sleep(10)
    assert sorted(yard.chat.said("C1")) == ["fixed", "queued"]


async def test_a_card_that_breaks_later_keeps_its_message_with_one_note(yard: Any) -> None:
    counts: list[str] = []
    await yard.put("t1", "queued")
    async with yard.delivering(errors=InternalErrors(counts.append)) as reconciler:
        await asyncio.sleep(10)
        await break_composer(yard, "t1")
        await asyncio.sleep(600)
        edits = reconciler.counts["edit"]
    assert yard.chat.said("C1") == ["queued"]
    assert len(counts) >= 9  # composed again every minute
    assert set(counts) == {"card"}
    assert edits == 1  # the note, once


async def test_a_posted_card_that_cannot_be_composed_after_a_restart_stays_as_it_is(yard: Any) -> None:
    await yard.put("t1", "queued")
    async with yard.delivering():
        await asyncio.sleep(10)
    await break_composer(yard, "t1")
    async with yard.delivering():
        await asyncio.sleep(600)
    assert yard.chat.said("C1") == ["queued"]


async def test_a_launch_that_restarts_while_its_end_is_posted_is_not_final(yard: Any) -> None:
    card = await yard.put("t1", "over", over=True)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(yard.reconciler().run())  # without a change signal
        await asyncio.sleep(0.02)
        await yard.put("t1", "restarted")
        await asyncio.sleep(5)
        task.cancel()
    assert yard.chat.said("C1") == ["restarted"]
    assert not (await yard.card("t1")).is_final
    assert card.message_id == ""


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


def _fields(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


async def test_a_reply_that_is_pruned_before_it_is_posted_stops_nothing(yard: Any) -> None:
    """Its card had nothing to show and was never posted; pruning sends no change signal."""
    async with yard.delivering():
        silent = a_card("t1", kind=CardKind.LAUNCH)
        async with yard.store.unit() as unit:
            await unit.rows(PostedCard).put(silent)
        await asyncio.sleep(2)
        for number in range(3):
            await yard.put(f"busy{number}", "busy")
        async with yard.store.unit() as unit:
            await unit.rows(ThreadReply).add(a_line(silent, "late", said="late", at=yard.clock.now()))
        await asyncio.sleep(0.1)
        await yard.store.prune(yard.clock.now() + timedelta(days=1))
        await asyncio.sleep(10)
    assert yard.chat.said("C1") == ["busy"] * 3
