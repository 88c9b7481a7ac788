"""A reconciler that is killed at each suspension point and restarted posts everything once."""

import asyncio
from collections import Counter
from functools import partial
from typing import Any

import pytest

from alerts.cards.message import Color
from tests.support.chat import Fault
from tests.support.kill_points import Killer

pytestmark = pytest.mark.looptime


async def _put_first(yard: Any) -> None:
    """Put a card with two replies, and a card that is over before it is posted."""
    card = await yard.put("t0", "first", reply="t0 began")
    await yard.put("t0", "second", reply="t0 ended")
    await yard.put("t1", "over", color=Color.GOOD, over=True)
    assert card.message_id == ""


async def _put_later(yard: Any, seconds: float) -> None:
    await asyncio.sleep(seconds / 2)
    await yard.put("t0", "third", reply="t0 went on")
    await yard.put("t2", "worse", color=Color.CRITICAL)
    await asyncio.sleep(seconds / 2)


def _seen(yard: Any) -> Counter[str]:
    texts = [message.text for message in yard.chat.messages.values() if not message.is_deleted]
    return Counter(one for text in texts for one in _events(text))


def _events(text: str) -> list[str]:
    """Return what a message says. Replies that waited long are one, each with its time."""
    return [line.rpartition(" UTC: ")[2] for line in text.split("\n")]


REPLIES = ["t0 began", "t0 ended", "t0 went on"]
EACH_ONCE = {"third": 1, "over": 1, "worse": 1, **dict.fromkeys(REPLIES, 1)}

SCRIPTS = [
    pytest.param((), id="without faults"),
    pytest.param(
        (Fault.LOST_REPLY, Fault.LOST_CALL, Fault.LATE, Fault.BUSY, Fault.LOST_REPLY), id="with faults"
    ),
]


@pytest.mark.parametrize("script", SCRIPTS)
async def test_a_crash_at_any_point_loses_and_duplicates_nothing(
    yard_factory: Any, script: tuple[Fault, ...]
) -> None:
    points = 0
    for at in range(1, 10_000):
        yard = yard_factory()
        yard.chat.faults("post", *script)
        yard.chat.faults("edit", *script)
        await _put_first(yard)
        reconciler = yard.reconciler()
        stop = yard.store.listen(reconciler.wake)
        was_killed = await Killer(at).execute(reconciler.run(), partial(_put_later, yard, 150))
        stop()
        async with yard.delivering():
            await asyncio.sleep(150)
        assert _seen(yard) == EACH_ONCE, f"killed at point {at}"
        said = yard.chat.said("C1", (await yard.card("t0")).message_id)
        assert [one for text in said for one in _events(text)] == REPLIES
        if not was_killed:
            points = at
            break
    assert points > 60  # it was killed at that many points, each in a run of its own


@pytest.mark.parametrize("script", SCRIPTS)
async def test_repeated_crashes_lose_and_duplicate_nothing(
    yard_factory: Any, script: tuple[Fault, ...]
) -> None:
    for stride in (3, 5, 11, 17, 23, 31):
        yard = yard_factory()
        for method in ("post", "edit", "find"):
            yard.chat.faults(method, *script)
        await _put_first(yard)
        for restart in range(12):
            await Killer(stride + restart).execute(yard.reconciler().run(), partial(asyncio.sleep, 25))
        await _put_later(yard, 1)
        async with yard.delivering():
            await asyncio.sleep(200)
        assert _seen(yard) == EACH_ONCE, f"stride {stride}"
