"""Features of the look-alike for tests and the demo, which no real server has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import aiohttp
import pytest

from demo.lookalikes.kubernetes import KubernetesLookalike, RefusedError, Settings, User
from demo.lookalikes.kubernetes.objects import Json
from tests.contract.kubernetes.api import pod

NODES = "/api/v1/nodes"


class _ManualClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    async with KubernetesLookalike.running(tokens={"eve": User("eve")}) as running:
        yield running


@pytest.fixture
async def session(kube: KubernetesLookalike) -> AsyncIterator[aiohttp.ClientSession]:
    headers = {"Authorization": f"Bearer {kube.admin_token}"}
    timeout = aiohttp.ClientTimeout(total=20)
    async with aiohttp.ClientSession(kube.url, headers=headers, timeout=timeout) as opened:
        yield opened


def _node(name: str) -> Json:
    status = {"allocatable": {"cpu": "8", "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


async def _until(what: str, holds: object) -> None:
    assert callable(holds)
    try:
        async with asyncio.timeout(20):
            while True:
                if holds():
                    return
                await asyncio.sleep(0.02)
    except TimeoutError:
        pytest.fail(f"waited 20 s for {what}")


async def test_injected_failures_happen_the_given_number_of_times(
    kube: KubernetesLookalike, session: aiohttp.ClientSession
) -> None:
    kube.fail(lambda seen: seen.method == "GET" and seen.path == NODES, 503, times=2, retry_after=1)
    codes = []
    for _ in range(3):
        async with session.get(NODES) as response:
            codes.append((response.status, response.headers.get("Retry-After")))
    assert codes == [(503, "1"), (503, "1"), (200, None)]


async def test_requests_are_recorded_with_user_body_and_dry_run(
    kube: KubernetesLookalike, session: aiohttp.ClientSession
) -> None:
    async with session.post(NODES, json=_node("n"), params={"dryRun": "All"}) as response:
        assert response.status == 201
    last = kube.requests[-1]
    assert (last.method, last.path, last.user, last.dry_run) == ("POST", NODES, "admin", True)
    assert last.body["metadata"]["name"] == "n"


async def test_a_paused_server_does_not_answer_until_it_is_resumed(
    kube: KubernetesLookalike, session: aiohttp.ClientSession
) -> None:
    kube.pause()
    with pytest.raises(TimeoutError):
        await session.get(NODES, timeout=aiohttp.ClientTimeout(total=0.2))
    kube.resume()
    async with session.get(NODES) as response:
        assert response.status == 200


async def test_a_watch_of_a_paused_server_does_not_end(
    kube: KubernetesLookalike, session: aiohttp.ClientSession
) -> None:
    timeout = aiohttp.ClientTimeout(total=60, sock_read=0.3)
    params = {"watch": "true", "timeoutSeconds": "0.1", "resourceVersion": str(kube.store.version)}
    async with session.get(NODES, params=params, timeout=timeout) as response:
        kube.pause()
        with pytest.raises(TimeoutError):
            await response.content.read()
        kube.resume()


async def test_dropped_watches_end_abruptly_or_cleanly(
    kube: KubernetesLookalike, session: aiohttp.ClientSession
) -> None:
    kube.create(_node("n"))
    for abruptly in (True, False):
        async with session.get(NODES, params={"watch": "true"}) as response:
            await response.content.readline()
            kube.drop_watches(abruptly=abruptly)
            if abruptly:
                with pytest.raises(aiohttp.ClientError):
                    await response.content.read()
            else:
                await response.content.read()


async def test_a_stalled_watch_sends_nothing_more_and_a_new_one_works(
    kube: KubernetesLookalike, session: aiohttp.ClientSession
) -> None:
    kube.create(_node("n1"))
    timeout = aiohttp.ClientTimeout(total=60, sock_read=0.2)
    async with session.get(NODES, params={"watch": "true"}, timeout=timeout) as stalled:
        await stalled.content.readline()
        kube.stall_watches()
        kube.create(_node("n2"))
        with pytest.raises(TimeoutError):
            await stalled.content.readline()
    async with session.get(NODES, params={"watch": "true"}) as new:
        assert b'"n1"' in await new.content.readline()
        assert b'"n2"' in await new.content.readline()


async def test_watches_are_hung_up_with_nothing_sent_until_that_ends(
    kube: KubernetesLookalike, session: aiohttp.ClientSession
) -> None:
    kube.create(_node("n1"))
    kube.hang_up_watches(True)
    async with session.get(NODES, params={"watch": "true"}) as response:
        assert (response.status, await response.content.read()) == (200, b"")
    kube.hang_up_watches(False)
    async with session.get(NODES, params={"watch": "true"}) as response:
        assert b'"n1"' in await response.content.readline()


async def test_a_bookmark_follows_every_change_before_it(
    kube: KubernetesLookalike, session: aiohttp.ClientSession
) -> None:
    params = {"watch": "true", "allowWatchBookmarks": "true", "resourceVersion": str(kube.store.version)}
    async with session.get(NODES, params=params) as response:
        kube.create(_node("n1"))
        assert b'"ADDED"' in await response.content.readline()
        kube.create(_node("n2"))
        kube.send_bookmarks()
        assert b'"n2"' in await response.content.readline()
        assert b'"BOOKMARK"' in (line := await response.content.readline())
        assert f'"resourceVersion":"{kube.store.version}"'.encode() in line


async def test_a_url_may_contain_its_token(kube: KubernetesLookalike) -> None:
    url = f"{kube.url}/with-token/{kube.admin_token}{NODES}"
    timeout = aiohttp.ClientTimeout(total=20)
    async with aiohttp.ClientSession(timeout=timeout) as plain, plain.get(url) as response:
        assert response.status == 200


async def test_logs_come_from_the_world() -> None:
    queries: list[tuple[object, ...]] = []

    async def logs(*query: object) -> bytes:
        queries.append(query)
        return b"one\ntwo\nthree\n"

    async with KubernetesLookalike.running(logs=logs) as kube:
        kube.create(_node("n"))
        kube.create(pod("a", nodeName="n"))
        headers = {"Authorization": f"Bearer {kube.admin_token}"}
        timeout = aiohttp.ClientTimeout(total=20)
        async with aiohttp.ClientSession(kube.url, headers=headers, timeout=timeout) as session:
            path = "/api/v1/namespaces/default/pods/a/log"
            async with session.get(path, params={"tailLines": "2"}) as response:
                assert await response.text() == "two\nthree\n"
            async with session.get(path, params={"previous": "true"}) as response:
                assert response.status == 200
    assert queries == [("default", "a", "main", 2, False, None), ("default", "a", "main", None, True, None)]


async def test_errors_in_process_are_exceptions(kube: KubernetesLookalike) -> None:
    kube.create(_node("n"))
    with pytest.raises(RefusedError, match='nodes "n" already exists') as refused:
        kube.create(_node("n"))
    assert refused.value.code == 409
    with pytest.raises(KeyError, match="no kind is called 'gadgets'"):
        kube.list("gadgets")


async def test_a_silent_node_becomes_unknown_and_loses_its_pods() -> None:
    clock = _ManualClock()
    settings = Settings(tick=timedelta(milliseconds=10), node_grace=timedelta(seconds=50))
    async with KubernetesLookalike.running(clock=clock, settings=settings) as kube:
        kube.create(_node("silent"))
        kube.create(_node("alive"))
        kube.create(pod("a", nodeName="silent"))
        ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
        kube.patch("pods", "default", "a", {"status": ready}, status=True)
        lease = {"metadata": {"name": "alive"}, "spec": {"holderIdentity": "alive"}}
        kube.create(
            {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", **lease}, namespace="kube-node-lease"
        )
        await _until(
            "the first tick", lambda: "taints" not in (kube.get("nodes", "", "alive") or {}).get("spec", {})
        )

        def state(name: str) -> str:
            node = kube.get("nodes", "", name) or {}
            return next(str(c["status"]) for c in node["status"]["conditions"] if c["type"] == "Ready")

        for step in range(12):
            clock.now += timedelta(seconds=5)
            renewed = {"spec": {"renewTime": f"2026-03-01T00:{step:02}:00.000000Z"}}
            kube.patch("leases", "kube-node-lease", "alive", renewed)
            await asyncio.sleep(0.03)
        await _until("the silent node to be Unknown", lambda: state("silent") == "Unknown")
        assert state("alive") == "True"
        taints = {(t["key"], t["effect"]) for t in (kube.get("nodes", "", "silent") or {})["spec"]["taints"]}
        assert ("node.kubernetes.io/unreachable", "NoExecute") in taints
        clock.now += timedelta(seconds=301)  # the tolerationSeconds that every pod gets
        kube.patch(
            "leases", "kube-node-lease", "alive", {"spec": {"renewTime": "2026-03-01T01:00:00.000000Z"}}
        )

        def terminating() -> bool:
            found = kube.get("pods", "default", "a")
            return found is not None and "deletionTimestamp" in found["metadata"]

        await _until("the pod to be evicted", terminating)


async def test_two_thousand_pods_are_scheduled_on_two_hundred_nodes(kube: KubernetesLookalike) -> None:
    for number in range(200):
        kube.create(_node(f"n{number}"))
    await asyncio.sleep(0)
    for number in range(2000):
        kube.create(pod(f"p{number}", requests={"cpu": "500m"}))
    await _until("2,000 scheduled pods", lambda: len(kube.list("pods", fields="spec.nodeName!=")) == 2000)
    loads = [len(kube.list("pods", fields=f"spec.nodeName=n{number}")) for number in range(0, 200, 40)]
    assert max(loads) <= 16
