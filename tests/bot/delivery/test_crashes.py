"""This file kills the telling at every point where it gives way, starts it again, and counts what people see."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Generator
from functools import partial
from typing import Any

import pytest

from alerts.cards.message import Color
from tests.support.chat import Fault

pytestmark = pytest.mark.looptime


class Guillotine:
    """Counts each time that a task of `run` gives way, and kills them all there at the chosen one."""

    def __init__(self, at: int) -> None:
        self.count = 0
        self._at = at
        self._run: asyncio.Task[None] | None = None

    async def execute(self, run: Coroutine[Any, Any, None], after: Callable[[], Awaitable[object]]) -> bool:
        """Let it run until `after` is through, or until it is killed: tells whether it was."""
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

    def falls(self) -> bool:
        self.count += 1
        if self.count == self._at:
            assert self._run is not None
            self._run.cancel()
            return True
        return False


class _Steps(Coroutine[Any, Any, Any]):
    """A coroutine whose steps are counted."""

    def __init__(self, work: Coroutine[Any, Any, Any], guillotine: Guillotine) -> None:
        self._work = work
        self._guillotine = guillotine

    def send(self, value: Any) -> Any:
        return self._go_on(self._work.send(value))

    def throw(self, *error: Any) -> Any:
        return self._go_on(self._work.throw(*error))

    def close(self) -> None:
        self._work.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        raise NotImplementedError("only a task runs it")

    def _go_on(self, waits_for: Any) -> Any:
        return self._work.throw(asyncio.CancelledError()) if self._guillotine.falls() else waits_for


async def _story(yard: Any) -> None:
    """A card with two lines, one over before its turn, and one that changes when it is already told."""
    told = await yard.truth("t0", "told", line="t0 began")
    await yard.truth("t0", "told again", line="t0 ended")
    await yard.truth("t1", "over", color=Color.GOOD, over=True)
    assert told.message_id == ""


async def _more(yard: Any, seconds: float) -> None:
    await asyncio.sleep(seconds / 2)
    await yard.truth("t0", "told at last", line="t0 went on")
    await yard.truth("t2", "worse", color=Color.CRITICAL)
    await asyncio.sleep(seconds / 2)


def _seen(yard: Any) -> Counter[str]:
    return Counter(message.text for message in yard.chat.messages.values() if not message.is_deleted)


LINES = ["t0 began", "t0 ended", "t0 went on"]
EACH_ONCE = {"told at last": 1, "over": 1, "worse": 1, **dict.fromkeys(LINES, 1)}

SCRIPTS = [
    pytest.param((), id="while all goes well"),
    pytest.param(
        (Fault.LOST_REPLY, Fault.LOST_CALL, Fault.LATE, Fault.BUSY, Fault.LOST_REPLY), id="among faults"
    ),
]


@pytest.mark.parametrize("script", SCRIPTS)
async def test_a_crash_at_any_point_loses_nothing_and_doubles_nothing(
    yard_factory: Any, script: tuple[Fault, ...]
) -> None:
    points = 0
    for at in range(1, 10_000):
        yard = yard_factory()
        yard.chat.faults("post", *script)
        yard.chat.faults("edit", *script)
        await _story(yard)
        reconciler = yard.reconciler()
        stop = yard.store.listen(reconciler.mark_changed)
        was_killed = await Guillotine(at).execute(reconciler.run(), partial(_more, yard, 150))
        stop()
        async with yard.telling():
            await asyncio.sleep(150)
        assert _seen(yard) == EACH_ONCE, f"killed at point {at}"
        assert yard.chat.said("C1", (await yard.card("t0")).message_id) == LINES
        if not was_killed:
            points = at
            break
    assert points > 80  # it was killed at that many points, each in a life of its own


@pytest.mark.parametrize("script", SCRIPTS)
async def test_crashes_upon_crashes_lose_nothing_and_double_nothing(
    yard_factory: Any, script: tuple[Fault, ...]
) -> None:
    for stride in (3, 5, 11, 17, 23, 31):
        yard = yard_factory()
        for method in ("post", "edit", "find"):
            yard.chat.faults(method, *script)
        await _story(yard)
        for life in range(12):
            await Guillotine(stride + life).execute(yard.reconciler().run(), partial(asyncio.sleep, 25))
        await _more(yard, 1)
        async with yard.telling():
            await asyncio.sleep(200)
        assert _seen(yard) == EACH_ONCE, f"stride {stride}"
