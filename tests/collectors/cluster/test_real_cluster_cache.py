"""The source and the cache against a real API server."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from collectors.cluster.cache import ClusterCache, ReflectorState
from collectors.cluster.kinds import DEFAULT_KINDS, NODES, PODS
from collectors.facts.clock import SystemClock
from collectors.facts.results import Blind
from collectors.sources.kubernetes.api_status import KubernetesError
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.cluster_cache import QUICK, Replica, until
from tests.support.yard import closed

SPACE = "cache-churn"
SOON = timedelta(seconds=60)
PODS_PATH = f"/api/v1/namespaces/{SPACE}/pods"


@pytest.fixture
async def admin(real_kubernetes: KubernetesCluster) -> AsyncIterator[KubernetesClient]:
    """A client of the administrator, with a namespace for these tests."""
    client = await KubernetesClient.connect(
        KubernetesOptions(kubeconfig=str(real_kubernetes.kubeconfig), timeout=timedelta(seconds=30))
    )
    try:
        await create(client, "/api/v1/namespaces", {"metadata": {"name": SPACE}})
        await create(client, f"/api/v1/namespaces/{SPACE}/serviceaccounts", {"metadata": {"name": "default"}})
        await client.call("DELETE", PODS_PATH, body={"gracePeriodSeconds": 0})  # what the last test left
        yield client
        await client.call("DELETE", PODS_PATH, body={"gracePeriodSeconds": 0})
    finally:
        await closed(client)


async def create(client: KubernetesClient, path: str, tree: dict[str, Any]) -> None:
    try:
        await client.call("POST", path, body=tree)
    except KubernetesError as refused:
        if refused.reason != "AlreadyExists":
            raise


async def versions(client: KubernetesClient) -> dict[str, str]:
    tree = msgspec.json.decode(await client.call("GET", PODS_PATH))
    return {
        f"{SPACE}/{item['metadata']['name']}": item["metadata"]["resourceVersion"] for item in tree["items"]
    }


async def churn(client: KubernetesClient, chance: random.Random, names: list[str]) -> None:
    roll = chance.random()
    if roll < 0.5 or not names:
        names.append(f"p{chance.getrandbits(40):x}")
        spec = {"containers": [{"name": "main", "image": "i"}]}
        await client.call("POST", PODS_PATH, body={"metadata": {"name": names[-1]}, "spec": spec})
    elif roll < 0.8:
        patch = {"metadata": {"labels": {"turn": str(chance.getrandbits(30))}}}
        await client.call(
            "PATCH",
            f"{PODS_PATH}/{chance.choice(names)}",
            body=patch,
            content_type="application/merge-patch+json",
        )
    else:
        name = names.pop(chance.randrange(len(names)))
        await client.call("DELETE", f"{PODS_PATH}/{name}", body={"gracePeriodSeconds": 0})


async def until_equal(replica: Replica, admin: KubernetesClient) -> None:
    """Wait until the replica has exactly the pods that are listed now: the scheduler may still be writing."""

    def cached() -> dict[str, str]:
        return {key: one for key, one in replica.versions.items() if key.startswith(f"{SPACE}/")}

    async with asyncio.timeout(60):
        while cached() != await versions(admin):  # noqa: ASYNC110 - the server sends no signal
            await asyncio.sleep(0.05)


@asynccontextmanager
async def followed_pods(admin: KubernetesClient) -> AsyncIterator[tuple[ClusterCache, Replica]]:
    """Yield a cache of the pods, which follows them while the block lasts, and a replica of it."""
    cache = ClusterCache(KubernetesSource(admin), clock=SystemClock(), kinds=(PODS,), timing=QUICK)
    replica = Replica("pods")
    cache.subscribe(replica)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(cache.run())
        await cache.synced(SOON)
        yield cache, replica
        running.cancel()


async def test_the_cache_equals_the_list_after_churn(admin: KubernetesClient) -> None:
    async with followed_pods(admin) as (cache, replica):
        chance, names = random.Random(11), [key.partition("/")[2] for key in await versions(admin)]
        for _ in range(120):
            await churn(admin, chance, names)
        await until_equal(replica, admin)
    assert replica.missed == []
    assert cache.status()[0].lists == 1


async def test_every_kind_of_a_real_cluster_is_decoded(admin: KubernetesClient) -> None:
    cache = ClusterCache(KubernetesSource(admin), clock=SystemClock(), timing=QUICK)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(cache.run())
        await cache.synced(SOON)
        blind = {kind.name: view for kind in DEFAULT_KINDS if isinstance(view := cache.snapshot(kind), Blind)}
        running.cancel()
    assert blind == {}


async def test_the_missing_permission_of_an_account_is_named(real_kubernetes: KubernetesCluster) -> None:
    client = await KubernetesClient.connect(KubernetesOptions(kubeconfig=str(real_kubernetes.bot_kubeconfig)))
    cache = ClusterCache(KubernetesSource(client), clock=SystemClock(), kinds=(NODES,), timing=QUICK)
    try:
        async with asyncio.TaskGroup() as group:
            running = group.create_task(cache.run())
            await until(cache, lambda: cache.status()[0].state is ReflectorState.FORBIDDEN)
            blind = cache.snapshot(NODES)
            running.cancel()
    finally:
        await closed(client)
    assert isinstance(blind, Blind)
    assert f'User "{real_kubernetes.bot_name}" cannot list resource "nodes"' in blind.reason


async def test_a_server_that_restarts_without_its_history_is_listed_again(
    admin: KubernetesClient, real_kubernetes: KubernetesCluster
) -> None:
    async with followed_pods(admin) as (cache, replica):
        chance, names = random.Random(12), [key.partition("/")[2] for key in await versions(admin)]
        for _ in range(10):
            await churn(admin, chance, names)
        real_kubernetes.forget_history()  # not in a thread: the API server would end with the thread
        await asyncio.sleep(0.1)  # the loop stood still, and sees only now which connections have ended
        for _ in range(10):
            await churn(admin, chance, names)
        await until_equal(replica, admin)
    assert replica.missed == []
    assert cache.status()[0].lists > 1
