"""After any failure of lists and watches, every change arrives once, in order, and the cache equals the list."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from aiohttp import web

from collectors.cluster.cache import ClusterCache, ReflectorState
from collectors.cluster.kinds import NODES, PODS
from collectors.facts.clock import SystemClock
from collectors.facts.results import Blind
from collectors.sources.kubernetes.source import KubernetesSource
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.cluster_cache import QUICK, Replica, Script, ScriptedServer, tell, until

Connect = Callable[..., Awaitable[KubernetesSource]]
Run = Callable[[ClusterCache], Awaitable[ClusterCache]]
Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
SOON = timedelta(seconds=20)


def pod(name: str) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "main", "image": "i"}]},
    }


def versions(kube: KubernetesLookalike) -> dict[str, str]:
    return {
        f"{tree['metadata']['namespace']}/{tree['metadata']['name']}": tree["metadata"]["resourceVersion"]
        for tree in kube.list("pods")
    }


def churn(kube: KubernetesLookalike, chance: random.Random, names: list[str]) -> None:
    """Make one random change: a new pod, a new label, a deleted pod, or a deleted pod with a new one of its name."""
    roll = chance.random()
    if roll < 0.4 or not names:
        names.append(f"p{chance.getrandbits(40):x}")
        kube.create(pod(names[-1]))
    elif roll < 0.8:
        patch = {"metadata": {"labels": {"turn": str(chance.getrandbits(30))}}}
        kube.patch("pods", "default", chance.choice(names), patch)
    else:
        name = names.pop(chance.randrange(len(names)))
        kube.delete("pods", "default", name, grace=0)
        if roll > 0.9:
            kube.create(pod(name))
            names.append(name)


def quiet(_: KubernetesLookalike) -> None:
    """No failure."""


def aborted(kube: KubernetesLookalike) -> None:
    kube.drop_watches(abruptly=True)


def ended(kube: KubernetesLookalike) -> None:
    kube.drop_watches(abruptly=False)


def compacted(kube: KubernetesLookalike) -> None:
    kube.drop_watches()
    kube.compact()


def failing(kube: KubernetesLookalike) -> None:
    kube.fail(lambda seen: seen.path == "/api/v1/pods", 500, times=2)
    kube.drop_watches()


def limiting(kube: KubernetesLookalike) -> None:
    kube.fail(lambda seen: seen.path == "/api/v1/pods", 429, times=2, retry_after=1)
    kube.drop_watches()


@pytest.mark.parametrize("failure", [quiet, aborted, ended, compacted, failing, limiting])
async def test_the_cache_equals_the_list_after_churn(
    kube: KubernetesLookalike,
    connect: Connect,
    run: Run,
    failure: Callable[[KubernetesLookalike], None],
) -> None:
    chance = random.Random(7)
    names: list[str] = []
    for _ in range(30):
        churn(kube, chance, names)
    cache = ClusterCache(await connect(kube.url), clock=SystemClock(), kinds=(PODS,), timing=QUICK)
    replica = Replica("pods")
    cache.subscribe(replica)
    await run(cache)
    await cache.synced(SOON)
    for turn in range(200):
        churn(kube, chance, names)
        if turn % 25 == 10:
            failure(kube)
        if turn % 5 == 0:
            await asyncio.sleep(0.005)
    await until(cache, lambda: replica.versions == versions(kube))
    assert replica.missed == []
    snapshot = cache.snapshot(PODS)
    assert not isinstance(snapshot, Blind)
    assert {key: one.metadata.resource_version for key, one in snapshot.objects.items()} == versions(kube)
    (report,) = cache.status()
    assert report.changes == replica.count == cache.version
    if failure in (quiet, aborted, ended):
        assert report.lists == 1  # the watch alone is enough


async def test_every_change_is_published_when_watches_break(
    kube: KubernetesLookalike, connect: Connect, run: Run
) -> None:
    cache = ClusterCache(await connect(kube.url), clock=SystemClock(), kinds=(PODS,), timing=QUICK)
    published: list[str] = []
    cache.subscribe(
        lambda change: published.append((change.after or change.before).metadata.resource_version)
    )
    await run(cache)
    await cache.synced(SOON)
    written: list[str] = []
    stop = kube.store.listen(
        lambda change: written.append(str(change.version)) if change.kind.plural == "pods" else None
    )
    chance = random.Random(3)
    names: list[str] = []
    for turn in range(150):
        churn(kube, chance, names)
        if turn % 20 == 5:
            kube.drop_watches(abruptly=turn % 40 == 5)
        await asyncio.sleep(0.002)
    stop()
    await until(cache, lambda: len(published) >= len(written))
    assert published == written


async def test_a_server_that_pauses_loses_no_change(
    kube: KubernetesLookalike, connect: Connect, run: Run
) -> None:
    source = await connect(kube.url, timeout=timedelta(seconds=0.3))
    timing = replace(QUICK, watch=0.3, grace=0.2)
    cache = ClusterCache(source, clock=SystemClock(), kinds=(PODS,), timing=timing)
    replica = Replica("pods")
    cache.subscribe(replica)
    await run(cache)
    await cache.synced(SOON)
    kube.pause()
    for number in range(10):
        kube.create(pod(f"p{number}"))
    await until(cache, lambda: cache.status()[0].state is ReflectorState.WAITING)
    kube.resume()
    await until(cache, lambda: replica.versions == versions(kube))
    assert replica.missed == []


# Single scripted failures: how one watch fails, and where the next one continues.


async def ends_immediately(_: web.Request, response: web.StreamResponse) -> None:
    await response.write_eof()


async def breaks_in_an_event(request: web.Request, response: web.StreamResponse) -> None:
    await response.write(b'{"type":"ADDED","object":{"meta')
    assert request.transport is not None
    request.transport.abort()


async def goes_silent(_: web.Request, response: web.StreamResponse) -> None:
    await asyncio.sleep(60)


async def is_expired(_: web.Request, response: web.StreamResponse) -> None:
    await tell(response, "ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"})


async def sends_an_error(_: web.Request, response: web.StreamResponse) -> None:
    await tell(response, "ERROR", {"kind": "Status", "code": 500, "message": "etcd is away"})


async def sends_an_invalid_event(_: web.Request, response: web.StreamResponse) -> None:
    await response.write(b'{"type":"ADDED","object":{"metadata":{"name":7}}}\n')


FAILURES = [
    (ends_immediately, 1, "a watch that ends immediately"),
    (breaks_in_an_event, 1, "a watch that breaks inside an event"),
    (goes_silent, 1, "a watch that goes silent"),
    (sends_an_error, 1, "a server error in the stream"),
    (is_expired, 2, "a version that has expired"),
    (sends_an_invalid_event, 2, "an event that cannot be decoded"),
]


@pytest.mark.parametrize(("failure", "lists", "case"), FAILURES, ids=[case for _, _, case in FAILURES])
async def test_after_each_failure_the_cache_continues_from_its_version(
    serve: Serve, connect: Connect, run: Run, failure: Script, lists: int, case: str
) -> None:
    server = ScriptedServer()
    server.put("old")

    async def first(_: web.Request, response: web.StreamResponse) -> None:
        await tell(response, "ADDED", server.put("n1"))

    async def last(_: web.Request, response: web.StreamResponse) -> None:
        await tell(response, "ADDED", server.put("n2", seen="yes"))
        await tell(response, "DELETED", server.drop("old"))
        await asyncio.sleep(60)

    server.scripts = [first, failure, last]
    source = await connect(await serve(server))
    # Long enough for a busy machine to read an event, and short where the silence is waited for.
    timing = replace(QUICK, watch=1 if failure is goes_silent else 30)
    cache = ClusterCache(source, clock=SystemClock(), kinds=(NODES,), timing=timing)
    replica = Replica("nodes")
    cache.subscribe(replica)
    await run(cache)
    await until(cache, lambda: set(replica.versions) == {"n1", "n2"})
    assert replica.missed == []
    assert server.lists == lists
    assert server.watched_from[:3] == ["101", "102", "102"], case


async def test_a_cluster_restored_from_a_backup_is_listed_again(
    serve: Serve, connect: Connect, run: Run
) -> None:
    server = ScriptedServer()
    server.put("before")

    async def is_restored(_: web.Request, response: web.StreamResponse) -> None:
        server.version = 5
        server.objects = {}
        server.put("after")
        await asyncio.sleep(0.05)

    server.scripts = [is_restored]
    timing = replace(QUICK, watch=0.05, rewind_check=0.0)
    cache = ClusterCache(
        await connect(await serve(server)), clock=SystemClock(), kinds=(NODES,), timing=timing
    )
    replica = Replica("nodes")
    cache.subscribe(replica)
    await run(cache)
    await until(cache, lambda: set(replica.versions) == {"after"})
    assert replica.missed == []
