"""A process that is killed at any await loses and repeats no alert, message, silence or acknowledgement."""

import itertools
from collections.abc import Callable, Iterator

import pytest

from tests.support.crash_scenario import AnyBodies, AnyStore, CrashScenario
from tests.support.examples import by_profile
from tests.support.memory_bodies import MemoryBodies
from tests.support.memory_store import MemoryStore
from tests.support.slack_in_process import SlackInProcess

PARTS = 4  # that run beside each other


def refuses_and_loses(slack: SlackInProcess) -> None:
    faults = slack.lookalike
    faults.lose_reply("chat.postMessage")
    faults.fail("chat.postMessage", "ratelimited", retry_after=7)
    faults.late("chat.postMessage", 3, lose_reply=True)
    faults.fail("chat.postMessage", 500)
    faults.fail("chat.update", 500)
    faults.lose_reply("chat.update")
    faults.fail("chat.update", "ratelimited", retry_after=4)
    faults.fail("conversations.history", "ratelimited", retry_after=3)


async def _does_nothing(_store: AnyStore) -> None:
    return


def _in_memory(disturb: Callable[[SlackInProcess], None]) -> CrashScenario:
    store, bodies = MemoryStore(), MemoryBodies()

    async def open_store() -> AnyStore:
        return store

    async def open_bodies() -> AnyBodies:
        return bodies

    return CrashScenario(
        open_store=open_store, close_store=_does_nothing, open_bodies=open_bodies, disturb=disturb
    )


@pytest.mark.looptime(noop_cycles=2)
@pytest.mark.parametrize("part", range(PARTS))
async def test_a_kill_at_any_await_loses_and_repeats_nothing(part: int) -> None:
    await _kill_at_each(lambda _: _in_memory(refuses_and_loses), itertools.count(part + 1, PARTS))


@pytest.mark.looptime(noop_cycles=2)
async def test_a_kill_loses_and_repeats_nothing_while_slack_works() -> None:
    step = by_profile(4, 1)
    await _kill_at_each(lambda _: _in_memory(lambda _slack: None), itertools.count(step, step))


async def _kill_at_each(scenario: Callable[[int], CrashScenario], points: Iterator[int]) -> None:
    """Kill a process at each of these awaits, each time in a scenario of its own, until it ends before."""
    for at in points:
        verdict = await scenario(at).run(kill_at=at)
        assert verdict.faults == (), f"killed at await {at}"
        if not verdict.was_killed:
            assert at > 200  # so many awaits there are at the least
            return
