"""A training that is launched again gets a new card, in the thread of the new launch."""

from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any, cast

from alerts.cards.posted import PostedCard
from bot.jobs.launch_watcher import STARTS_WITHIN, LaunchWatcher
from bot.live_cluster import LiveCluster
from bot.store.memory_store import MemoryStore
from collectors.facts.redaction import Redactor
from commands.models import Launch
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
