"""The cluster cache: blind kinds with their reason and age, and the publication of changes."""

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
from tests.support.custom_kinds import a_definition

Connect = Callable[..., Awaitable[KubernetesSource]]
Run = Callable[[ClusterCache], Awaitable[ClusterCache]]
Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
SOON = timedelta(seconds=20)
TRAINJOBS = ResourceKind(name="trainjobs", path="/apis/trainer.kubeflow.org/v1alpha1/trainjobs", type=Node)


class ManualClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
        self.wrong_by = timedelta()

    def now(self) -> datetime:
        return self.moment

    def elapsed(self) -> timedelta:
        return self.moment - datetime(2026, 11, 21, tzinfo=UTC) - self.wrong_by

    def set_by(self, by: timedelta) -> None:
        """Set the wall clock; no time passes."""
        self.moment += by
        self.wrong_by += by


def node(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"rack": "a"}}}


def blind_reason(cache: ClusterCache, kind: ResourceKind[Node]) -> str:
    blind = cache.snapshot(kind)
    assert isinstance(blind, Blind)
    return blind.reason


async def test_before_the_first_list_it_is_blind(kube: KubernetesLookalike, connect: Connect) -> None:
    cache = ClusterCache(await connect(kube.url), clock=SystemClock(), kinds=(NODES,))
    assert "not been listed yet" in blind_reason(cache, NODES)
    assert "not cached here" in blind_reason(cache, TRAINJOBS)


async def test_objects_are_typed_and_have_a_time(
    kube: KubernetesLookalike, connect: Connect, run: Run
) -> None:
    kube.create(node("n1"))
    clock = ManualClock()
    cache = await run(ClusterCache(await connect(kube.url), clock=clock, kinds=(NODES,), timing=QUICK))
    await cache.synced(SOON)
    snapshot = cache.snapshot(NODES)
    assert not isinstance(snapshot, Blind)
    assert snapshot.at == clock.now()
    assert snapshot.objects["n1"].metadata.labels == {"rack": "a"}


async def test_a_snapshot_does_not_change(kube: KubernetesLookalike, connect: Connect, run: Run) -> None:
    kube.create(node("n1"))
    cache = await run(
        ClusterCache(await connect(kube.url), clock=SystemClock(), kinds=(NODES,), timing=QUICK)
    )
    await cache.synced(SOON)
    before = cache.snapshot(NODES)
    seen = cache.version
    kube.create(node("n2"))
    await until(cache, lambda: cache.version == seen + 1)
    after = cache.snapshot(NODES)
    assert not isinstance(before, Blind)
    assert not isinstance(after, Blind)
    assert (set(before.objects), set(after.objects)) == ({"n1"}, {"n1", "n2"})
    assert cache.snapshot(NODES) == after


async def test_a_missing_permission_blinds_only_its_kind_and_is_named(
    kube: KubernetesLookalike, connect: Connect, run: Run
) -> None:
    kube.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "reader"},
            "rules": [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "watch"]}],
        }
    )
    kube.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": "reader"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"},
            "subjects": [{"kind": "ServiceAccount", "namespace": "yardmaster", "name": "yardmaster"}],
        }
    )
    source = await connect(kube.url, token="bot")
    cache = await run(ClusterCache(source, clock=SystemClock(), kinds=(NODES, EVENTS), timing=QUICK))
    await cache.synced(SOON)
    assert not isinstance(cache.snapshot(NODES), Blind)
    blind = cache.snapshot(EVENTS)
    assert isinstance(blind, Blind)
    assert 'cannot list resource "events"' in blind.reason
    assert "ClusterRole" in blind.reason

    rules = [{"apiGroups": [""], "resources": ["nodes", "events"], "verbs": ["get", "list", "watch"]}]
    kube.patch("clusterroles", "", "reader", {"rules": rules})
    await until(cache, lambda: not isinstance(cache.snapshot(EVENTS), Blind))


async def test_a_kind_that_is_not_served_is_known_to_be_empty(
    kube: KubernetesLookalike, connect: Connect, run: Run
) -> None:
    source = await connect(kube.url)
    cache = await run(ClusterCache(source, clock=SystemClock(), kinds=(NODES, TRAINJOBS), timing=QUICK))
    await cache.synced(SOON)
    seen = cache.snapshot(TRAINJOBS)
    assert not isinstance(seen, Blind)
    assert dict(seen.objects) == {}
    assert [(one.kind, one.state) for one in cache.status()][1] == ("trainjobs", ReflectorState.ABSENT)
    assert "does not serve" in cache.status()[1].reason


async def test_a_group_that_is_just_being_installed_is_known_to_be_empty(
    kube: KubernetesLookalike, connect: Connect, run: Run
) -> None:
    """The API server lists a new group a moment before it has the document of its version, and likewise at its end."""
    kube.create(a_definition(replace(TRAINJOBS, path=TRAINJOBS.path.replace("trainjobs", "others"))))
    kube.fail(lambda seen: seen.path == "/apis/trainer.kubeflow.org/v1alpha1", 404, times=1_000_000)
    source = await connect(kube.url)
    cache = await run(ClusterCache(source, clock=SystemClock(), kinds=(NODES, TRAINJOBS), timing=QUICK))
    await cache.synced(SOON)
    assert not isinstance(cache.snapshot(TRAINJOBS), Blind), blind_reason(cache, TRAINJOBS)


async def test_a_proxy_that_knows_no_path_says_nothing_about_a_kind(
    serve: Serve, connect: Connect, run: Run
) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=404, text="404 page not found")

    source = await connect(await serve(answer))
    cache = await run(ClusterCache(source, clock=SystemClock(), kinds=(NODES, TRAINJOBS), timing=QUICK))
    await cache.synced(SOON)
    assert "404" in blind_reason(cache, NODES)
    assert "404" in blind_reason(cache, TRAINJOBS)


async def test_an_absent_kind_of_a_server_that_went_away_is_blind_in_time(
    kube: KubernetesLookalike, connect: Connect, run: Run
) -> None:
    clock = ManualClock()
    source = await connect(kube.url)
    cache = await run(ClusterCache(source, clock=clock, kinds=(NODES, TRAINJOBS), timing=QUICK))
    await cache.synced(SOON)
    kube.fail(lambda seen: "trainjobs" in seen.path, 503, times=1_000_000)
    await until(cache, lambda: cache.status()[1].state is ReflectorState.WAITING)
    clock.moment += timedelta(seconds=240)
    assert "trainjobs: last seen 4 min ago" in blind_reason(cache, TRAINJOBS)


async def test_a_stale_kind_is_blind_with_its_age_and_reason_until_the_server_is_back(
    serve: Serve, connect: Connect, run: Run
) -> None:
    clock, server, is_away = ManualClock(), ScriptedServer(), False
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
    await run(cache)
    await until(cache, lambda: "middle of an event" in cache.status()[0].reason)
    assert not isinstance(cache.snapshot(NODES), Blind)
    is_away = True
    for step in (timedelta(hours=1), timedelta(days=-1)):
        clock.set_by(step)
        assert not isinstance(cache.snapshot(NODES), Blind)
    clock.moment += timedelta(seconds=240)
    assert "nodes: last seen 4 min ago: " in blind_reason(cache, NODES)
    await until(cache, lambda: "etcd has no leader" in cache.status()[0].reason)
    assert "nodes: last seen 4 min ago: " in blind_reason(cache, NODES)
    assert "etcd has no leader" in blind_reason(cache, NODES)

    server.scripts = []  # from here on a watch sends nothing for a minute: nothing changes
    is_away = False
    await until(cache, lambda: not isinstance(cache.snapshot(NODES), Blind))
    assert cache.snapshot(NODES).at == clock.now()
    assert server.lists == 2


async def test_a_watch_without_events_that_ends_normally_keeps_it_fresh(
    serve: Serve, connect: Connect, run: Run
) -> None:
    clock, server = ManualClock(), ScriptedServer()

    async def ends(_: web.Request, response: web.StreamResponse) -> None:
        clock.moment += timedelta(seconds=40)

    server.scripts = [ends, ends, ends]
    timing = replace(QUICK, watch=30, grace=10)
    cache = ClusterCache(await connect(await serve(server)), clock=clock, kinds=(NODES,), timing=timing)
    await run(cache)
    await until(cache, lambda: len(server.watched_from) == 4)
    snapshot = cache.snapshot(NODES)
    assert not isinstance(snapshot, Blind)
    assert snapshot.at == clock.now()


async def test_waiting_for_the_first_list_names_the_late_kinds(
    connect: Connect, run: Run, unused_tcp_port_factory: Callable[[], int]
) -> None:
    source = await connect(f"http://127.0.0.1:{unused_tcp_port_factory()}")
    cache = await run(ClusterCache(source, clock=SystemClock(), kinds=(NODES,), timing=QUICK))
    await until(cache, lambda: cache.status()[0].state is ReflectorState.WAITING)
    with pytest.raises(TimeoutError, match=r"nodes: .*cannot be reached"):
        await cache.synced(timedelta(seconds=0.05))


async def test_a_failing_subscriber_does_not_affect_others(
    kube: KubernetesLookalike, connect: Connect, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: ObjectChange) -> None:
        raise RuntimeError("boom")

    published: list[ObjectChange] = []
    cache = ClusterCache(await connect(kube.url), clock=SystemClock(), kinds=(NODES,), timing=QUICK)
    cache.subscribe(fail)
    stop = cache.subscribe(published.append)
    await run(cache)
    await cache.synced(SOON)
    kube.create(node("n1"))
    await until(cache, lambda: len(published) == 1)
    assert "a subscriber failed on a change of nodes n1" in caplog.text
    stop()
    kube.create(node("n2"))
    await until(cache, lambda: len(cache.snapshot(NODES).objects) == 2)  # type: ignore[union-attr]
    assert len(published) == 1


async def test_only_the_named_config_map_is_cached(
    kube: KubernetesLookalike, connect: Connect, run: Run
) -> None:
    kind: ResourceKind[ConfigMap] = configmap("kube-system", "dns-autoscaler")
    for name in ("dns-autoscaler", "other"):
        kube.create(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": "kube-system"},
                "data": {"linear": "{}"},
            }
        )
    cache = await run(
        ClusterCache(await connect(kube.url), clock=SystemClock(), kinds=(kind, PODS), timing=QUICK)
    )
    await cache.synced(SOON)
    snapshot = cache.snapshot(kind)
    assert not isinstance(snapshot, Blind)
    assert {key: one.data for key, one in snapshot.objects.items()} == {
        "kube-system/dns-autoscaler": {"linear": "{}"}
    }
