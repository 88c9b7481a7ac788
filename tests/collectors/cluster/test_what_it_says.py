"""The cache says what it cannot see, why, and how old it is; listeners and waiters are told of changes."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web

from collectors.cluster.cache import ClusterCache, ObjectChange, ReflectorState
from collectors.cluster.kinds import EVENTS, NODES, PODS, ResourceKind, configmap
from collectors.cluster.objects import ConfigMap, Node
from collectors.facts.clock import SystemClock
from collectors.facts.results import Blind
from collectors.sources.kubernetes.source import KubernetesSource
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.cluster_cache import QUICK, ScriptedServer, until

Connect = Callable[..., Awaitable[KubernetesSource]]
Keep = Callable[[ClusterCache], Awaitable[ClusterCache]]
Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
SOON = timedelta(seconds=20)
TRAINJOBS = ResourceKind(name="trainjobs", path="/apis/trainer.kubeflow.org/v1alpha1/trainjobs", type=Node)


class HandClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment


def node(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"rack": "a"}}}


def why(cache: ClusterCache, kind: ResourceKind[Node]) -> str:
    said = cache.snapshot(kind)
    assert isinstance(said, Blind)
    return said.reason


async def test_before_the_first_list_it_is_blind(kube: KubernetesLookalike, connect: Connect) -> None:
    cache = ClusterCache(await connect(kube.url), clock=SystemClock(), kinds=(NODES,))
    assert "not been listed yet" in why(cache, NODES)
    assert "not cached here" in why(cache, TRAINJOBS)


async def test_objects_are_typed_and_as_of_a_moment(
    kube: KubernetesLookalike, connect: Connect, keep: Keep
) -> None:
    kube.create(node("n1"))
    clock = HandClock()
    cache = await keep(ClusterCache(await connect(kube.url), clock=clock, kinds=(NODES,), timing=QUICK))
    await cache.synced(SOON)
    snapshot = cache.snapshot(NODES)
    assert not isinstance(snapshot, Blind)
    assert snapshot.at == clock.now()
    assert snapshot.objects["n1"].metadata.labels == {"rack": "a"}


async def test_a_snapshot_does_not_move(kube: KubernetesLookalike, connect: Connect, keep: Keep) -> None:
    kube.create(node("n1"))
    cache = await keep(
        ClusterCache(await connect(kube.url), clock=SystemClock(), kinds=(NODES,), timing=QUICK)
    )
    await cache.synced(SOON)
    before = cache.snapshot(NODES)
    seen = cache.version
    kube.create(node("n2"))
    async with asyncio.timeout(20):
        assert await cache.changed(seen) == seen + 1
    after = cache.snapshot(NODES)
    assert not isinstance(before, Blind)
    assert not isinstance(after, Blind)
    assert (set(before.objects), set(after.objects)) == ({"n1"}, {"n1", "n2"})
    assert cache.snapshot(NODES) == after


async def test_a_missing_right_blinds_its_kind_only_and_is_named(
    kube: KubernetesLookalike, connect: Connect, keep: Keep
) -> None:
    kube.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "looks"},
            "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]}],
        }
    )
    kube.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "looks"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "looks"},
            "subjects": [{"kind": "ServiceAccount", "namespace": "yardmaster", "name": "yardmaster"}],
        }
    )
    source = await connect(kube.url, token="bot")
    cache = await keep(ClusterCache(source, clock=SystemClock(), kinds=(NODES, EVENTS), timing=QUICK))
    await cache.synced(SOON)
    assert not isinstance(cache.snapshot(NODES), Blind)
    said = cache.snapshot(EVENTS)
    assert isinstance(said, Blind)
    assert 'cannot list resource "events"' in said.reason
    assert "ClusterRole" in said.reason

    rules = [{"apiGroups": [""], "resources": ["nodes", "events"], "verbs": ["get", "list", "watch"]}]
    kube.patch("clusterroles", "", "looks", {"rules": rules})
    await until(cache, lambda: not isinstance(cache.snapshot(EVENTS), Blind))


async def test_a_kind_that_is_not_served_is_skipped_and_said(
    kube: KubernetesLookalike, connect: Connect, keep: Keep
) -> None:
    source = await connect(kube.url)
    cache = await keep(ClusterCache(source, clock=SystemClock(), kinds=(NODES, TRAINJOBS), timing=QUICK))
    await cache.synced(SOON)
    assert cache.is_absent(TRAINJOBS)
    assert not cache.is_absent(NODES)
    assert "does not serve" in why(cache, TRAINJOBS)
    assert [(one.kind, one.state) for one in cache.status()][1] == ("trainjobs", ReflectorState.ABSENT)


async def test_what_is_too_old_is_blind_with_its_age_and_cause_until_the_server_is_back(
    serve: Serve, connect: Connect, keep: Keep
) -> None:
    clock, server, is_away = HandClock(), ScriptedServer(), False
    server.put("n1")

    async def hangs_up(_: web.Request, response: web.StreamResponse) -> None:
        await response.write(b"{")

    async def answer(request: web.Request) -> web.StreamResponse:
        if is_away and "watch" not in request.query:
            return web.json_response({"message": "etcd has no leader"}, status=503)
        return await server(request)

    server.scripts = [hangs_up] * 10_000
    cache = ClusterCache(
        await connect(await serve(answer)),
        clock=clock,
        kinds=(NODES,),
        stale_after=timedelta(seconds=90),
        timing=QUICK,
    )
    await keep(cache)
    await until(cache, lambda: "middle of a line" in cache.status()[0].reason)
    assert not isinstance(cache.snapshot(NODES), Blind)
    is_away = True
    clock.moment += timedelta(seconds=240)
    assert "nodes: last seen 4 min ago: " in why(cache, NODES)
    await until(cache, lambda: "etcd has no leader" in cache.status()[0].reason)
    assert "nodes: last seen 4 min ago: " in why(cache, NODES)
    assert "etcd has no leader" in why(cache, NODES)

    server.scripts = []  # from here on a watch says nothing for a minute: nothing changes
    is_away = False
    await until(cache, lambda: not isinstance(cache.snapshot(NODES), Blind))
    assert cache.snapshot(NODES).at == clock.now()
    assert server.lists == 2


async def test_a_quiet_watch_that_ends_in_order_keeps_it_fresh(
    serve: Serve, connect: Connect, keep: Keep
) -> None:
    clock, server = HandClock(), ScriptedServer()

    async def ends(_: web.Request, response: web.StreamResponse) -> None:
        clock.moment += timedelta(seconds=40)

    server.scripts = [ends, ends, ends]
    pace = replace(QUICK, watch=30, grace=10)
    cache = ClusterCache(await connect(await serve(server)), clock=clock, kinds=(NODES,), timing=pace)
    await keep(cache)
    await until(cache, lambda: len(server.watched_from) == 4)
    snapshot = cache.snapshot(NODES)
    assert not isinstance(snapshot, Blind)
    assert snapshot.at == clock.now()


async def test_waiting_for_the_first_list_names_what_is_late(
    connect: Connect, keep: Keep, unused_tcp_port_factory: Callable[[], int]
) -> None:
    source = await connect(f"http://127.0.0.1:{unused_tcp_port_factory()}")
    cache = await keep(ClusterCache(source, clock=SystemClock(), kinds=(NODES,), timing=QUICK))
    await until(cache, lambda: cache.status()[0].state is ReflectorState.WAITING)
    with pytest.raises(TimeoutError, match=r"nodes: .*cannot be reached"):
        await cache.synced(timedelta(seconds=0.05))


async def test_a_listener_that_fails_harms_nobody(
    kube: KubernetesLookalike, connect: Connect, keep: Keep, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: ObjectChange) -> None:
        raise RuntimeError("boom")

    told: list[ObjectChange] = []
    cache = ClusterCache(await connect(kube.url), clock=SystemClock(), kinds=(NODES,), timing=QUICK)
    cache.subscribe(fail)
    stop = cache.subscribe(told.append)
    await keep(cache)
    await cache.synced(SOON)
    kube.create(node("n1"))
    await until(cache, lambda: len(told) == 1)
    assert "a listener failed on a change of nodes n1" in caplog.text
    stop()
    kube.create(node("n2"))
    await until(cache, lambda: len(cache.snapshot(NODES).objects) == 2)  # type: ignore[union-attr]
    assert len(told) == 1


async def test_a_config_map_is_followed_by_its_name_alone(
    kube: KubernetesLookalike, connect: Connect, keep: Keep
) -> None:
    kind: ResourceKind[ConfigMap] = configmap("kube-system", "dns-autoscaler")
    for name in ("dns-autoscaler", "secretive"):
        kube.create(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": "kube-system"},
                "data": {"linear": "{}"},
            }
        )
    cache = await keep(
        ClusterCache(await connect(kube.url), clock=SystemClock(), kinds=(kind, PODS), timing=QUICK)
    )
    await cache.synced(SOON)
    snapshot = cache.snapshot(kind)
    assert not isinstance(snapshot, Blind)
    assert {key: one.data for key, one in snapshot.objects.items()} == {
        "kube-system/dns-autoscaler": {"linear": "{}"}
    }
