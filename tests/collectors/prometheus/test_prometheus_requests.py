"""Each query is sent completely, whatever was sent before over the same connection."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from aiohttp import web

from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Seen
from collectors.sources.prometheus.source import PrometheusSource

Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
SourceAt = Callable[..., PrometheusSource]
AT = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


class Server:
    """A handler with empty results that records the query, the query string of the URL, and Accept-Encoding."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.seen: list[tuple[str, str]] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        self.queries.append(str(form["query"]))
        self.seen.append((request.query_string, request.headers["Accept-Encoding"]))
        return web.json_response({"status": "success", "data": {"resultType": "vector", "result": []}})


async def test_concurrent_queries_do_not_mix(serve: Serve, source_at: SourceAt) -> None:
    server = Server()
    source = source_at(await serve(server), params={"dedup": "true"})
    expressions = [f'up{{name="überall & {number}"}}' + " + 1" * number for number in range(40)]
    found = await asyncio.gather(*(source.query(PromQLQuery(expr=expr), at=AT) for expr in expressions))
    assert all(isinstance(one, Seen) for one in found)
    assert sorted(server.queries) == sorted(expressions)
    assert {query for query, _ in server.seen} == {"dedup=true"}


async def test_responses_are_uncompressed_unless_the_settings_request_it(
    serve: Serve, source_at: SourceAt
) -> None:
    plain, compressed = Server(), Server()
    await source_at(await serve(plain)).query(PromQLQuery(expr="up"), at=AT)
    await source_at(await serve(compressed), headers={"Accept-Encoding": "gzip"}).query(
        PromQLQuery(expr="up"), at=AT
    )
    assert plain.seen == [("", "identity")]
    assert compressed.seen == [("", "gzip")]
