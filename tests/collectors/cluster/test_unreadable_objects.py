"""One object that cannot be decoded is left out, counted and named; a bug in one kind stops no other kind."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from collectors.cluster import reflector
from collectors.cluster.cache import ClusterCache, KindStatus, ReflectorState
from collectors.cluster.decoder import KindDecoder
from collectors.cluster.kinds import EVENTS, NODES, PODS
from collectors.facts.clock import SystemClock
from collectors.facts.results import Blind
from collectors.sources.kubernetes.source import KubernetesSource
from tests.support.cluster_cache import QUICK, Replica, ScriptedServer, tell, until

Connect = Callable[..., Awaitable[KubernetesSource]]
Run = Callable[[ClusterCache], Awaitable[ClusterCache]]
Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]


def event(name: str, version: int, at: str = "2026-11-21T03:00:00Z") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "uid": name, "resourceVersion": str(version)}
    return {"metadata": metadata, "involvedObject": {"kind": "Pod", "name": "p"}, "lastTimestamp": at}


def year_zero(name: str, version: int) -> dict[str, Any]:
    """Return an Event that a real API server accepts from whoever may create Events."""
    return event(name, version, at="0000-01-01T00:00:00Z")


def names(cache: ClusterCache) -> set[str]:
    seen = cache.snapshot(EVENTS)
    return set() if isinstance(seen, Blind) else {key.partition("/")[2] for key in seen.objects}


def status(cache: ClusterCache) -> KindStatus:
    return cache.status()[0]


async def test_a_list_is_read_without_the_object_that_cannot_be(
    serve: Serve, connect: Connect, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    server = ScriptedServer()
    server.objects = {"a": event("a", 1), "odd": year_zero("odd", 2), "b": event("b", 3)}
    source = await connect(await serve(server))
    with caplog.at_level(logging.WARNING):
        cache = await run(ClusterCache(source, clock=SystemClock(), kinds=(EVENTS,), timing=QUICK))
        await until(cache, lambda: names(cache) == {"a", "b"})
    assert status(cache).unreadable == 1
    assert "events default/odd is left out, it cannot be read: " in caplog.text


async def test_a_watch_goes_on_after_an_object_that_cannot_be_read(
    serve: Serve, connect: Connect, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    server = ScriptedServer()
    server.objects = {"a": event("a", 1)}

    async def watch(_: web.Request, response: web.StreamResponse) -> None:
        await tell(response, "ADDED", year_zero("odd", 101))
        await tell(response, "MODIFIED", year_zero("odd", 102))
        await tell(response, "ADDED", event("b", 103))

    async def later(_: web.Request, response: web.StreamResponse) -> None:
        await tell(response, "DELETED", year_zero("odd", 104))
        await tell(response, "MODIFIED", event("a", 105))

    server.scripts = [watch, later]
    cache = ClusterCache(
        await connect(await serve(server)), clock=SystemClock(), kinds=(EVENTS,), timing=QUICK
    )
    replica = Replica("events")
    cache.subscribe(replica)
    counts: list[int] = []
    cache.subscribe(lambda change: counts.append(status(cache).unreadable))
    await run(cache)
    await until(cache, lambda: replica.versions.get("default/a") == "105")
    assert names(cache) == {"a", "b"}
    assert server.watched_from[:2] == ["100", "103"]
    assert server.lists == 1
    assert counts == [0, 1, 0]
    assert caplog.text.count("default/odd is left out") == 1


async def test_what_was_read_last_stays_while_the_object_cannot_be_read(
    serve: Serve, connect: Connect, run: Run
) -> None:
    server = ScriptedServer()
    server.objects = {"a": event("a", 1), "b": event("b", 2)}

    async def turns_odd(_: web.Request, response: web.StreamResponse) -> None:
        await tell(response, "MODIFIED", year_zero("a", 101))
        server.objects["a"] = year_zero("a", 101)

    async def expires(_: web.Request, response: web.StreamResponse) -> None:
        await tell(response, "ERROR", {"kind": "Status", "code": 410, "message": "too old"})

    server.scripts = [turns_odd, expires]
    source = await connect(await serve(server))
    cache = await run(ClusterCache(source, clock=SystemClock(), kinds=(EVENTS,), timing=QUICK))
    await until(cache, lambda: server.lists == 2 and status(cache).state is ReflectorState.WATCHING)
    assert names(cache) == {"a", "b"}
    assert status(cache).unreadable == 1


async def test_a_body_that_is_not_a_list_blinds_the_kind(serve: Serve, connect: Connect, run: Run) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response({"metadata": {"resourceVersion": "1"}, "items": {"a": 1}})

    source = await connect(await serve(answer))
    cache = await run(ClusterCache(source, clock=SystemClock(), kinds=(EVENTS,), timing=QUICK))
    await until(cache, lambda: "the list of events cannot be read" in status(cache).reason)
    assert isinstance(cache.snapshot(EVENTS), Blind)


async def test_a_bug_in_one_kind_is_contained_and_the_kind_recovers(
    serve: Serve, connect: Connect, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ScriptedServer()
    server.put("n1")
    failures = [RuntimeError("boom")] * 2

    class Failing(KindDecoder[Any]):
        def page(self, body: bytes) -> Any:
            if self._kind is PODS and failures:
                raise failures.pop()
            return super().page(body)

    monkeypatch.setattr(reflector, "KindDecoder", Failing)
    source = await connect(await serve(server))
    timing = replace(QUICK, first_wait=0.05)
    cache = await run(ClusterCache(source, clock=SystemClock(), kinds=(PODS, NODES), timing=timing))
    await until(cache, lambda: "internal error RuntimeError" in status(cache).reason)
    await until(cache, lambda: not isinstance(cache.snapshot(NODES), Blind))
    await until(cache, lambda: not isinstance(cache.snapshot(PODS), Blind))
    assert not failures


async def test_an_object_of_the_api_server_is_in_the_list_and_in_the_watch(
    serve: Serve, connect: Connect, run: Run
) -> None:
    server = ScriptedServer()
    server.put("gpu-a01", rack="\udcff1")
    later = server.put("gpu-a02", rack="r2")
    del server.objects["gpu-a02"]

    async def watch(_: web.Request, response: web.StreamResponse) -> None:
        await tell(
            response, "ADDED", {**later, "metadata": {**later["metadata"], "labels": {"rack": "\udcfe"}}}
        )

    server.scripts = [watch]
    source = await connect(await serve(server))
    cache = await run(ClusterCache(source, clock=SystemClock(), kinds=(NODES,), timing=QUICK))

    def racks() -> dict[str, str]:
        seen = cache.snapshot(NODES)
        if isinstance(seen, Blind):
            return {}
        return {name: (one.metadata.labels or {}).get("rack", "") for name, one in seen.objects.items()}

    await until(cache, lambda: racks() == {"gpu-a01": r"\xff1", "gpu-a02": r"\xfe"})
    assert cache.status()[0].unreadable == 0
    assert server.lists == 1, "the watch went on"
