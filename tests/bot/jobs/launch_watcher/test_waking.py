"""The launch watcher checks after a change that concerns it, and not for any other."""

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from bot.jobs.cluster_changes import LONGEST_SLEEP
from bot.jobs.launch_watcher import LaunchWatcher
from bot.live_cluster import SNAPSHOT_EVERY
from collectors.cluster.cache import ObjectChange
from collectors.facts.redaction import Redactor
from collectors.trainings.training import Training, TrainingState
from commands.models import Launch
from tests.support.alerting import CLUSTER, NOON
from tests.support.changing_cache import ChangingCache
from tests.support.memory_store import MemoryStore
from tests.support.rows import a_launch

pytestmark = pytest.mark.looptime


@dataclass(slots=True)
class Changing(ChangingCache):
    """A cluster with one training, and its cache."""

    states: list[TrainingState] = field(default_factory=lambda: [TrainingState.QUEUED])
    looks: list[float] = field(default_factory=list)

    @property
    def cache(self) -> Any:
        return self

    def change(self, key: str, state: TrainingState) -> None:
        self.states.append(state)
        self.tell(ObjectChange(kind="pods", key=key, before=None, after=None, at=NOON))

    def trainings(self) -> tuple[Training, ...]:
        self.looks.append(asyncio.get_running_loop().time())
        state = self.states[-1]
        return (Training(id="vision/detr", kind="Job", namespace="vision", name="detr", state=state),)


LAUNCH = a_launch(NOON)


async def reported(store: MemoryStore) -> str:
    async with store.unit() as unit:
        found = await unit.rows(Launch).get("l1")
    assert found is not None
    return found.reported_state


async def test_it_checks_after_a_change_in_its_namespace_or_of_the_store(looptime: Any) -> None:
    store, cluster = MemoryStore(), Changing()
    clock: Any = SimpleNamespace(now=lambda: NOON, elapsed=timedelta)
    clusters: Any = {CLUSTER: cluster}
    watcher = LaunchWatcher(store, clusters, clock, redact=Redactor(()), channel="C1")
    store.listen(watcher.wake)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(watcher.run())
        await asyncio.sleep(2)
        async with store.unit() as unit:
            await unit.rows(Launch).put(LAUNCH)
        await asyncio.sleep(SNAPSHOT_EVERY + 0.1)
        assert await reported(store) == "queued"
        await asyncio.sleep(5)
        before = len(cluster.looks)
        cluster.change("speech/other", TrainingState.RUNNING)
        await asyncio.sleep(5)
        assert len(cluster.looks) == before
        cluster.change("vision/detr-worker-0", TrainingState.RUNNING)
        await asyncio.sleep(SNAPSHOT_EVERY + 0.1)
        assert await reported(store) == "running"
        await asyncio.sleep(3)
        before = len(cluster.looks)
        for _ in range(1_000):
            cluster.change("vision/detr-worker-0", TrainingState.RUNNING)
            await asyncio.sleep(0.01)
        assert len(cluster.looks) - before <= 10 / SNAPSHOT_EVERY
        task.cancel()
    assert cluster.listeners == []


async def test_without_a_change_it_checks_now_and_then(looptime: Any) -> None:
    store, cluster = MemoryStore(), Changing()
    async with store.unit() as unit:
        await unit.rows(Launch).put(replace(LAUNCH, reported_state="queued"))
    clock: Any = SimpleNamespace(now=lambda: NOON, elapsed=timedelta)
    clusters: Any = {CLUSTER: cluster}
    watcher = LaunchWatcher(store, clusters, clock, redact=Redactor(()), channel="C1")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(watcher.run())
        await asyncio.sleep(10 * LONGEST_SLEEP)
        task.cancel()
    assert 8 <= len(cluster.looks) <= 11
