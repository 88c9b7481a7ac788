"""A clock step changes no wait of a delivery; what follows the wall clock notices it soon."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tests.support.chat import START, Fault

pytestmark = pytest.mark.looptime
STEPS = [timedelta(hours=-1), timedelta(hours=1), timedelta(days=-1), timedelta(days=1)]


@pytest.mark.parametrize("step", STEPS, ids=str)
@pytest.mark.parametrize("fault", [Fault.LOST_CALL, Fault.LOST_REPLY, Fault.LATE], ids=lambda one: one.name)
async def test_an_unknown_outcome_is_waited_for_as_long_as_ever(
    yard: Any, fault: Fault, step: timedelta
) -> None:
    yard.chat.faults("post", fault)
    await yard.put("t1", "queued")
    async with yard.delivering():
        await asyncio.sleep(2)
        yard.clock.wrong_by = step
        await asyncio.sleep(15)
        assert [method for _, method, _ in yard.chat.calls] == ["post"]
        await asyncio.sleep(15)
    assert yard.chat.said("C1") == ["queued"]


@pytest.mark.parametrize("step", STEPS, ids=str)
async def test_a_refused_card_is_retried_after_its_pause(yard: Any, step: timedelta) -> None:
    yard.chat.faults("post", Fault.REFUSED)
    await yard.put("t1", "queued")
    async with yard.delivering():
        await asyncio.sleep(5)
        yard.clock.wrong_by = step
        await asyncio.sleep(500)
        assert yard.chat.said("C1") == []
        await asyncio.sleep(120)
    assert yard.chat.said("C1") == ["queued"]


async def test_a_card_changes_by_itself_when_the_wall_clock_says_so(yard: Any) -> None:
    await yard.put("t1", "silenced", changes_at=START + timedelta(hours=2))
    async with yard.delivering():
        await asyncio.sleep(5)
        yard.clock.wrong_by = timedelta(hours=3)
        await asyncio.sleep(40)
    assert yard.chat.said("C1") == ["silenced for long"]


@pytest.mark.parametrize("step", STEPS, ids=str)
async def test_a_refused_reply_is_retried_for_as_long_as_ever(yard: Any, step: timedelta) -> None:
    yard.chat.faults("post", None, Fault.REFUSED)
    async with yard.delivering():
        await yard.put("t1", "queued", reply="it is queued")
        await asyncio.sleep(30)
        yard.clock.wrong_by = step
        await yard.put("t1", "running")  # the card's row and its replies are read again
        await asyncio.sleep(30)
        assert yard.chat.said("C1", "000001") == []
        await asyncio.sleep(600)
    assert yard.chat.said("C1", "000001") == ["it is queued"]


@pytest.mark.parametrize("step", STEPS, ids=str)
async def test_what_an_earlier_process_posted_is_searched_for_soon_however_often_its_card_changes(
    yard: Any, step: timedelta
) -> None:
    await yard.put("t1", "queued", intent_at=START + timedelta(seconds=1), nonce="n1")
    yard.clock.wrong_by = step
    async with yard.delivering():
        for number in range(12):
            await yard.put("t1", f"state-{number}")
            await asyncio.sleep(5)
        assert [method for _, method, _ in yard.chat.calls][:2] == ["find", "post"]
    assert yard.chat.said("C1") == ["state-11"]
