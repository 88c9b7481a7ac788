"""Recorded answers with one value changed: each is Seen or Blind, and no query raises."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from structlog.testing import capture_logs

from collectors.facts.queries import LogQuery, PromQLQuery, Query, TimesUsual
from collectors.facts.results import Blind, Seen
from collectors.internal_errors import InternalErrors
from collectors.query_router import QueryRouter
from collectors.sources.elasticsearch.options import ElasticsearchOptions
from collectors.sources.elasticsearch.source import ElasticsearchSource
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.source import PrometheusSource
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from tests.support.examples import by_profile
from tests.support.log_documents import host_line
from tests.support.log_matches import message
from tests.support.routing import a_router

NOW = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)
ROUNDS = by_profile(400, 10_000)
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**63, 1e308, 0.5, "", "NaN", "+Inf", "²", "\x00", "\ud800", "2026-99-99T00:00:00Z"),
    *([], {}, [None], [[]], {"": None}, "a" * 5000),
)
MATCH = "bus"
LOG_QUERIES = (
    LogQuery(match=message(MATCH), by=("node",), over=timedelta(minutes=5)),
    LogQuery(match=message(MATCH), by=(), over=timedelta(minutes=5)),
    LogQuery(match=message(MATCH), by=("node",), over=timedelta(minutes=5), extract=r"Xid .*: (?P<xid>\d+),"),
    LogQuery(match=message(MATCH), by=("node",), over=timedelta(minutes=5), novel=timedelta(days=1)),
    LogQuery(
        match=message(MATCH),
        by=("node",),
        over=timedelta(minutes=5),
        times_usual=TimesUsual(factor=3, season=timedelta(days=1)),
    ),
)
METRIC_QUERIES = (PromQLQuery(expr="heat > 83"), PromQLQuery(expr="heat > 83", presence="heat"))
Handler = Callable[[web.Request], Awaitable[bytes]]


@dataclass
class MutatingServer:
    """Answers with what the handler returns, one value of which is changed in the `mutate_in`-th answer."""

    handler: Handler
    random: Random
    headers: dict[str, str]
    mutate_in: int = -1
    mutations: int = 0

    async def answer(self, request: web.Request) -> web.Response:
        body = await self.handler(request)
        if self.mutate_in == 0:
            body, self.mutations = mutated(body, self.random), self.mutations + 1
        self.mutate_in -= 1
        return web.Response(body=body, headers=self.headers)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


def mutated(body: bytes, random: Random) -> bytes:
    """Return the answer with one value replaced, removed or repeated; now and then cut off."""
    if not body or random.random() < 0.05:
        return body[: random.randrange(len(body) + 1)]
    document = json.loads(body)
    places = list(_places(document))
    if not places:
        return json.dumps(random.choice(ODD)).encode()
    parent, key = random.choice(places)
    match random.randrange(8):
        case 0:
            del parent[key]
        case 1 if isinstance(parent, list):
            parent.append(parent[key])
        case _:
            parent[key] = random.choice(ODD)
    return json.dumps(document).encode()


def _places(value: Any) -> Any:
    """Yield every (container, key) in the document."""
    if isinstance(value, dict | list):
        for key in range(len(value)) if isinstance(value, list) else list(value):
            yield value, key
            yield from _places(value[key])


@dataclass
class Tally:
    """The results of many rounds."""

    seen: int = 0
    blind: int = 0
    unexpected: list[str] = field(default_factory=list)


async def run_rounds(router: QueryRouter, server: MutatingServer, queries: tuple[Query, ...]) -> Tally:
    tally = Tally()
    with capture_logs() as logs:
        for _ in range(ROUNDS):
            server.mutate_in = server.random.randrange(6)
            answers = await router.query_all({"rule": server.random.choice(queries)}, at=NOW)
            answer = answers["rule"]
            assert isinstance(answer, Seen | Blind)
            tally.seen += isinstance(answer, Seen)
            tally.blind += isinstance(answer, Blind)
    tally.unexpected = [repr(log["exc_info"]) for log in logs if log["event"] == "internal error"]
    return tally


def assert_nothing_raised(tally: Tally, server: MutatingServer) -> None:
    """Fail if an answer raised, or if too few were changed to say so."""
    assert server.mutations > ROUNDS / 4
    assert tally.seen > 0
    assert tally.blind > 0
    assert tally.unexpected == []


@pytest.mark.soak
async def test_no_changed_answer_of_prometheus_raises() -> None:
    sample = {"metric": {"__name__": "heat", "node": "gpu-a01"}, "value": [NOW.timestamp(), "91"]}

    async def answer(request: web.Request) -> bytes:
        await request.read()
        fresh = {"metric": {}, "value": [NOW.timestamp(), str(NOW.timestamp())]}
        result = [fresh] if "timestamp" in (await request.post()).get("query", "") else [sample, sample]  # type: ignore[operator]
        return json.dumps(
            {"status": "success", "data": {"resultType": "vector", "result": result}, "warnings": []}
        ).encode()

    server = MutatingServer(answer, Random(7), {"content-type": "application/json"})
    async with server.running() as url:
        source = PrometheusSource(PrometheusOptions(url=url, timeout=timedelta(seconds=5)))
        errors = InternalErrors()
        router = a_router(source, has_cluster=False, errors=errors)
        tally = await run_rounds(router, server, METRIC_QUERIES)
        await source.close()

    assert_nothing_raised(tally, server)


@pytest.mark.soak
async def test_no_changed_answer_of_elasticsearch_raises() -> None:
    async with ElasticsearchLookalike.running() as es, aiohttp.ClientSession() as client:
        message = "NVRM: Xid (PCI:0000:b3:00): 79, pid=1, GPU has fallen off the bus."
        await es.index(
            host_line(NOW - timedelta(minutes=1), message, node=node, unit="kernel")
            for node in ("gpu-a01", "gpu-a01", "gpu-a02")
        )

        async def forward(request: web.Request) -> bytes:
            body, kind = await request.read(), request.headers.get("content-type", "application/json")
            async with client.request(
                request.method, f"{es.url}{request.path_qs}", data=body, headers={"content-type": kind}
            ) as answer:
                return await answer.read()

        headers = {"content-type": "application/json", "X-Elastic-Product": "Elasticsearch"}
        server = MutatingServer(forward, Random(7), headers)
        async with server.running() as url:
            source = ElasticsearchSource(ElasticsearchOptions(urls=(url,)))
            router = a_router(source, has_cluster=False)
            tally = await run_rounds(router, server, LOG_QUERIES)
            await source.close()

    assert_nothing_raised(tally, server)
