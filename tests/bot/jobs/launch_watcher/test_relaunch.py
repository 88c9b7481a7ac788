"""A launch whose training does not appear is over soon; one that is launched again gets a new card, in its thread."""

from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any, cast

import pytest

from alerts.cards.posted import PostedCard
from bot.jobs.launch_watcher import STARTS_WITHIN, LaunchWatcher
from bot.live_cluster import LiveCluster
from collectors.facts.redaction import Redactor
from commands.models import Launch
from tests.support.memory_store import MemoryStore
from tests.support.yard import CLUSTER, Hands


class NoTrainings:
    """A cluster without trainings."""

    def trainings(self) -> tuple[Any, ...]:
        return ()


def a_launch(thread: str, clock: Hands) -> Launch:
    return Launch(
        id=f"{CLUSTER}/mnist/mnist",
        cluster=CLUSTER,
        training="mnist/mnist",
        by="U_ANA",
        by_name="ana",
        at=clock.now(),
        channel="C_GPU",
        thread=thread,
    )


async def test_a_second_launch_is_reported_in_its_own_thread() -> None:
    store, clock = MemoryStore(), Hands()
    clusters = MappingProxyType({CLUSTER: cast("LiveCluster", NoTrainings())})
    watcher = LaunchWatcher(store, clusters, clock, redact=Redactor(()), channel="C_GPU")
    for thread in ("1.1", "2.2"):
        async with store.unit() as unit:
            await unit.rows(Launch).put(a_launch(thread, clock))
        clock.move(STARTS_WITHIN + timedelta(seconds=1))
        await watcher.check()
        async with store.unit() as unit:
            (card,) = await unit.rows(PostedCard).find()
            assert (card.thread, card.message_id, card.is_final) == (thread, "", False)
            await unit.rows(PostedCard).put(
                replace(card, message_id=f"{thread}9", is_final=True)
            )  # posted and final


@pytest.mark.parametrize("step", [timedelta(hours=-1), timedelta(hours=1), timedelta(days=-1)], ids=str)
async def test_a_clock_step_does_not_change_how_long_a_training_may_be_missing(
    step: timedelta,
) -> None:
    store, clock = MemoryStore(), Hands()
    clusters = MappingProxyType({CLUSTER: cast("LiveCluster", NoTrainings())})
    watcher = LaunchWatcher(store, clusters, clock, redact=Redactor(()), channel="C_GPU")
    async with store.unit() as unit:
        await unit.rows(Launch).put(a_launch("1.1", clock))
    await watcher.check()
    reported: list[str] = []
    for pause in (timedelta(seconds=1), STARTS_WITHIN - timedelta(seconds=2), timedelta(seconds=2)):
        if not reported:
            clock.set_by(step)
        clock.move(pause)
        await watcher.check()
        async with store.unit() as unit:
            (launch,) = await unit.rows(Launch).find()
        reported.append(launch.reported_state)
    assert reported == ["", "", "stopped"]
