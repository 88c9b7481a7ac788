"""Responses from other servers, from proxies, and from an Elasticsearch that misbehaves."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import pytest
from aiohttp import web

from collectors.facts.queries import LogQuery
from collectors.facts.results import Blind
from collectors.sources.elasticsearch.options import Credentials, ElasticsearchOptions
from collectors.sources.elasticsearch.source import ElasticsearchSource
from collectors.sources.elasticsearch.transport import client_of
from tests.support.log_matches import message

COUNT = LogQuery(match=message("bus"), by=("node",), over=timedelta(minutes=5))
PRODUCT = {"X-Elastic-Product": "Elasticsearch"}
HEADERS = {**PRODUCT, "content-type": "application/json"}
CAPS = {
    "indices": ["logs"],
    "fields": {
        "@timestamp": {"date": {"type": "date", "searchable": True, "aggregatable": True}},
        "message": {"text": {"type": "text", "searchable": True, "aggregatable": False}},
        "host.name": {"keyword": {"type": "keyword", "searchable": True, "aggregatable": True}},
    },
}


NOTHING = {"timed_out": False, "_shards": {"total": 1, "successful": 1, "failed": 0}}
SAMPLES = {"responses": [NOTHING] * 4}  # in which fields are looked for


def prepared(path: str) -> object:
    """Return the responses that come before a search; None for the search itself."""
    return CAPS if "_field_caps" in path else SAMPLES if "_msearch" in path else None


@asynccontextmanager
async def serving(answer: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    """Serve every path with one handler, and yield the address."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def blind_reason(url: str, now: datetime, **settings: object) -> str:
    async with ElasticsearchSource(ElasticsearchOptions(urls=(url,), **settings)) as source:  # type: ignore[arg-type]
        blind = await source.query(COUNT, at=now)
    assert isinstance(blind, Blind)
    return blind.reason


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        pytest.param(
            json.dumps(CAPS), {"content-type": "application/json"}, id="OpenSearch, which lacks the header"
        ),
        pytest.param("<html>log in</html>", {"content-type": "text/html"}, id="a log-in page"),
        pytest.param(
            "<html>log in</html>", {**HEADERS, "content-type": "text/html"}, id="a page through a proxy"
        ),
        pytest.param("{", HEADERS, id="half a response"),
        pytest.param("[]", HEADERS, id="a list"),
    ],
)
async def test_another_server_is_recognised(now: datetime, body: str, headers: dict[str, str]) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body, headers=headers)

    async with serving(answer) as url:
        reason = await blind_reason(url, now)
    assert "is not Elasticsearch (OpenSearch" in reason
    assert "7.17 or newer" in reason


async def test_an_endless_response_is_aborted_at_the_cap(now: datetime) -> None:
    sent = 0

    async def answer(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse(headers=HEADERS)
        await response.prepare(request)
        # Ends when the client hangs up.
        while sent < 500_000_000:
            await response.write(b" " * 65_536)
            sent += 65_536
        return response

    async with serving(answer) as url:
        reason = await blind_reason(url, now, bytes_cap=1_000_000)
    assert "exceeded 1000000 bytes: narrow `match` or shorten `over`" in reason
    assert sent < 50_000_000


async def test_a_response_without_shard_counts_is_blind(now: datetime) -> None:
    async def answer(request: web.Request) -> web.Response:
        body = prepared(request.path) or {"aggregations": {}}
        return web.json_response(body, headers=PRODUCT)

    async with serving(answer) as url:
        assert "has no shard counts, so it may be incomplete" in await blind_reason(url, now)


@pytest.mark.parametrize("missing", ["skipped", "partial", "failed"])
async def test_a_remote_cluster_that_was_not_reached_is_blind(now: datetime, missing: str) -> None:
    clusters = {"total": 2, "successful": 1, "skipped": 0, "partial": 0, "failed": 0, missing: 1}
    whole = {"timed_out": False, "_shards": {"total": 3, "successful": 3, "failed": 0}, "_clusters": clusters}

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(prepared(request.path) or whole, headers=PRODUCT)

    async with serving(answer) as url:
        assert f"did not reach every remote cluster: 1 {missing}" in await blind_reason(url, now)


async def test_warnings_of_the_server_are_not_raised_here(now: datetime) -> None:
    """The client would turn such a header into a Python warning, which fails this test."""
    whole = {"timed_out": False, "_shards": {"total": 1, "successful": 1, "failed": 0}}

    async def answer(request: web.Request) -> web.Response:
        headers = {**PRODUCT, "Warning": '299 Elasticsearch-8.19.0 "this is deprecated"'}
        return web.json_response(prepared(request.path) or whole, headers=headers)

    async with (
        serving(answer) as url,
        ElasticsearchSource(ElasticsearchOptions(urls=(url,))) as source,
    ):
        assert not isinstance(await source.query(COUNT, at=now), Blind)


async def test_a_redirect_is_not_followed(now: datetime) -> None:
    """It would send our credentials to any address."""
    paths: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        paths.append(request.path)
        return web.Response(status=302, headers={**HEADERS, "location": "/elsewhere"})

    async with serving(answer) as url:
        assert "failed (302)" in await blind_reason(url, now)
    assert "/elsewhere" not in paths


@pytest.mark.parametrize(
    ("credentials", "header"),
    [
        (Credentials(api_key="a2V5"), "ApiKey a2V5"),
        (Credentials(username="yard", password="p:w"), "Basic eWFyZDpwOnc="),
        (Credentials(bearer="tok"), "Bearer tok"),
        (None, ""),
    ],
)
async def test_credentials_are_sent(now: datetime, credentials: Credentials | None, header: str) -> None:
    seen: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.headers.get("authorization", ""))
        return web.json_response(
            {"error": {"type": "security_exception", "reason": "no"}}, status=401, headers=PRODUCT
        )

    async with serving(answer) as url:
        reason = await blind_reason(url, now, credentials=lambda: credentials)
    assert seen == [header]
    assert "(401)" in reason


async def test_credentials_are_read_again_for_every_request(now: datetime) -> None:
    keys = iter(["first", "second"])
    seen: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.headers["authorization"])
        return web.Response(status=401, headers=HEADERS)

    async with (
        serving(answer) as url,
        ElasticsearchSource(
            ElasticsearchOptions(urls=(url,), credentials=lambda: Credentials(api_key=next(keys)))
        ) as source,
    ):
        await source.query(COUNT, at=now)
        await source.query(COUNT, at=now)
    assert seen == ["ApiKey first", "ApiKey second"]


async def test_a_server_without_tls_is_blind(now: datetime) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response(CAPS, headers=PRODUCT)

    async with serving(answer) as url:
        reason = await blind_reason(url.replace("http:", "https:"), now)
    assert "TLS" in reason or "cannot connect" in reason


async def test_a_query_can_be_cancelled(now: datetime) -> None:
    arrived = asyncio.Event()
    never = asyncio.Event()

    async def answer(_: web.Request) -> web.Response:
        arrived.set()
        await asyncio.wait_for(never.wait(), 10)
        return web.Response()

    async with serving(answer) as url, ElasticsearchSource(ElasticsearchOptions(urls=(url,))) as source:
        async with asyncio.TaskGroup() as tasks:
            query = tasks.create_task(source.query(COUNT, at=now))
            await asyncio.wait_for(arrived.wait(), 10)
            query.cancel()
        assert query.cancelled()
        never.set()


async def test_half_a_character_is_not_an_error() -> None:
    """A shipper that cuts a long line may cut a surrogate pair; JSON can hold its half, and nothing can encode it."""
    cut = r'{"responses": [{"found \ud83d": ["cut here \ud83d", {"whole": "\ud83d\ude00"}]}]}'

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=cut, headers=HEADERS)

    async with serving(answer) as url, client_of(ElasticsearchOptions(urls=(url,))) as client:
        found = await client.search()

    assert found.body == {"responses": [{"found ?": ["cut here ?", {"whole": "\N{GRINNING FACE}"}]}]}
