"""A reconciler that is killed at each suspension point and restarted posts everything once."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from typing import Any

import pytest

from alerts.cards.message import Color
from tests.support.chat import Fault

pytestmark = pytest.mark.looptime


class Killer:
    """Counts the suspension points of all tasks of `run`, and cancels `run` at the chosen one."""

    def __init__(self, at: int) -> None:
        self.count = 0
        self._at = at
        self._run: asyncio.Task[None] | None = None

    async def execute(self, run: Coroutine[Any, Any, None], after: Callable[[], Awaitable[object]]) -> bool:
        """Run it until `after` returns or it is killed. Return whether it was killed."""
        loop = asyncio.get_running_loop()
        loop.set_task_factory(lambda _loop, work, **more: asyncio.Task(_Steps(work, self), loop=loop, **more))
        try:
            self._run = loop.create_task(run)
            await after()
            self._run.cancel()
            await asyncio.wait([self._run])
        finally:
            loop.set_task_factory(None)
        return self.count >= self._at

    def strikes(self) -> bool:
        self.count += 1
        if self.count == self._at:
            assert self._run is not None
            self._run.cancel()
            return True
        return False


class _Steps(Coroutine[Any, Any, Any]):
    """A coroutine that counts its steps."""

    def __init__(self, work: Coroutine[Any, Any, Any], killer: Killer) -> None:
        self._work = work
        self._killer = killer

    def send(self, value: Any) -> Any:
        return self._resume(self._work.send(value))

    def throw(self, *error: Any) -> Any:
        return self._resume(self._work.throw(*error))

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        raise NotImplementedError("only a task runs it")

    def _resume(self, awaited: Any) -> Any:
        return self._work.throw(asyncio.CancelledError()) if self._killer.strikes() else awaited


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
    return Counter(message.text for message in yard.chat.messages.values() if not message.is_deleted)


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
        stop = yard.store.listen(reconciler.mark_changed)
        was_killed = await Killer(at).execute(reconciler.run(), partial(_put_later, yard, 150))
        stop()
        async with yard.delivering():
            await asyncio.sleep(150)
        assert _seen(yard) == EACH_ONCE, f"killed at point {at}"
        assert yard.chat.said("C1", (await yard.card("t0")).message_id) == REPLIES
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
