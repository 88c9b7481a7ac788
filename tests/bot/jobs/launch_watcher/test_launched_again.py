"""This file tests that a training that is launched again has a card of its own, in the thread of the new launch."""

from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any, cast

from bot.jobs.launch_watcher import STARTS_WITHIN, LaunchWatcher
from bot.live_cluster import LiveCluster
from bot.store.memory_store import MemoryStore
from collectors.facts.redaction import Redactor
from commands.models import Launch
from tests.support.yard import CLUSTER, Hands


class NoTrainings:
    """A cluster in which every training is gone."""

    def trainings(self) -> tuple[Any, ...]:
        return ()


def a_launch(thread: str, hands: Hands) -> Launch:
    return Launch(
        id=f"{CLUSTER}/mnist/mnist",
        cluster=CLUSTER,
        training="mnist/mnist",
        by="U_ANA",
        by_name="ana",
        at=hands.now(),
        channel="C_GPU",
        thread=thread,
    )


async def test_the_second_launch_is_told_anew_in_its_own_thread() -> None:
    store, hands = MemoryStore(), Hands()
    clusters = MappingProxyType({CLUSTER: cast("LiveCluster", NoTrainings())})
    follower = LaunchWatcher(store, clusters, hands, redact=Redactor(()), channel="C_GPU")
    for thread in ("1.1", "2.2"):
        async with store.unit() as unit:
            await unit.launches.put(a_launch(thread, hands))
        hands.move(STARTS_WITHIN + timedelta(seconds=1))
        await follower.look()
        async with store.unit() as unit:
            (card,) = await unit.cards.find()
            assert (card.thread, card.message_id, card.is_final) == (thread, "", False)
            await unit.cards.put(replace(card, message_id=f"{thread}9", is_final=True))  # said and done
