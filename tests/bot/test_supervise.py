"""A part that fails is restarted alone."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from structlog.testing import capture_logs

from bot import supervise
from collectors.internal_errors import InternalErrors

pytestmark = (
    pytest.mark.looptime
)  # so that a minute is as long as the pauses need, however busy the machine is


def failing(times: int, after: asyncio.Event) -> Callable[[], Awaitable[None]]:
    """Work that fails so many times, then sets the event and goes on for ever."""
    left = [times]

    async def work() -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise KeyError("odd")
        after.set()
        await asyncio.Event().wait()

    return work


async def test_a_part_that_fails_is_started_again_and_the_others_are_not_disturbed() -> None:
    counts: list[str] = []
    recovered, steady = asyncio.Event(), asyncio.Event()
    parts = {"evaluation a": failing(3, recovered), "evaluation b": failing(0, steady)}
    with capture_logs() as logs, pytest.raises(TimeoutError):
        async with asyncio.timeout(60):
            await supervise.run_together(parts, InternalErrors(counts.append))

    assert recovered.is_set()
    assert steady.is_set()
    assert counts == ["evaluation a"] * 3
    assert [log["component"] for log in logs] == ["evaluation a"]  # the same error is logged once


async def test_a_part_that_is_cancelled_from_inside_is_restarted() -> None:
    runs: list[int] = []

    async def work() -> None:
        runs.append(1)
        raise asyncio.CancelledError

    with capture_logs(), pytest.raises(TimeoutError):
        async with asyncio.timeout(60):
            await supervise.run_together({"agenda": work}, InternalErrors())

    assert len(runs) > 1
