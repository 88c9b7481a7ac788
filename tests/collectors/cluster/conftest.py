"""The fixture of these tests: caches that run until the test ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from collectors.cluster.cache import ClusterCache
from collectors.facts.topology import Topology
from collectors.topology_builder import build_topology
from collectors.trainings.catalogue import read_trainings
from tests.support.one_training import cluster


@pytest.fixture
async def run() -> AsyncIterator[Callable[[ClusterCache], Awaitable[ClusterCache]]]:
    """A function that runs a cache until the test ends."""
    async with asyncio.TaskGroup() as group:
        running: list[asyncio.Task[None]] = []

        async def start(cache: ClusterCache) -> ClusterCache:
            running.append(group.create_task(cache.run()))
            return cache

        yield start
        for task in running:
            task.cancel()


@pytest.fixture
def topology() -> Topology:
    seen = cluster()
    return build_topology(seen, read_trainings(seen), cluster="prod-a")
