"""Each question is sent whole, whatever was asked before over the same connection."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from aiohttp import web

from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Seen
from collectors.sources.prometheus.source import PrometheusSource

Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
SourceAt = Callable[..., PrometheusSource]
AT = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


class Server:
    """Answers nothing to everything, and notes the query, the rest of the address, and Accept-Encoding."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.seen: list[tuple[str, str]] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        self.queries.append(str(form["query"]))
        self.seen.append((request.query_string, request.headers["Accept-Encoding"]))
        return web.json_response({"status": "success", "data": {"resultType": "vector", "result": []}})


async def test_many_at_once_each_send_their_own(serve: Serve, source_at: SourceAt) -> None:
    server = Server()
    source = source_at(await serve(server), params={"dedup": "true"})
    expressions = [f'up{{name="überall & {number}"}}' + " + 1" * number for number in range(40)]
    found = await asyncio.gather(*(source.query(PromQLQuery(expr=expr), at=AT) for expr in expressions))
    assert all(isinstance(one, Seen) for one in found)
    assert sorted(server.queries) == sorted(expressions)
    assert {query for query, _ in server.seen} == {"dedup=true"}


async def test_different_questions_do_not_mix(serve: Serve, source_at: SourceAt) -> None:
    server = Server()
    source = source_at(await serve(server))
    await source.query(PromQLQuery(expr="up"), at=AT)
    await source.range("rate(x[5m])", start=AT - timedelta(hours=1), end=AT, step=timedelta(minutes=1))
    await source.query(PromQLQuery(expr="down"), at=AT)
    assert server.queries == ["up", "rate(x[5m])", "down"]


async def test_answers_come_uncompressed_unless_the_settings_ask_for_it(
    serve: Serve, source_at: SourceAt
) -> None:
    plain, packed = Server(), Server()
    await source_at(await serve(plain)).query(PromQLQuery(expr="up"), at=AT)
    await source_at(await serve(packed), headers={"Accept-Encoding": "gzip"}).query(
        PromQLQuery(expr="up"), at=AT
    )
    assert plain.seen == [("", "identity")]
    assert packed.seen == [("", "gzip")]
