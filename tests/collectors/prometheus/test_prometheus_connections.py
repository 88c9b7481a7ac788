"""HTTP between the source and Prometheus: redirects, compression, connections that end."""

import asyncio
import gzip
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web

from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, QueryResult, Seen
from collectors.sources.prometheus.source import PrometheusSource

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
UP = PromQLQuery(expr="up")
EMPTY = b'{"status":"success","data":{"resultType":"vector","result":[]}}'
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Handler], Awaitable[str]]
SourceAt = Callable[..., PrometheusSource]


def reason(result: QueryResult) -> str:
    assert isinstance(result, Blind), result
    return result.reason


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(serve: Serve, source_at: SourceAt, status: int) -> None:
    paths: list[str] = []

    async def redirect(request: web.Request) -> web.StreamResponse:
        paths.append(request.path)
        return web.Response(status=status, headers={"Location": "/elsewhere/api/v1/query"})

    source = source_at(await serve(redirect), authorization=lambda: "Bearer b3arer")
    assert f"answered {status}; it redirects: give the final url" in reason(await source.query(UP, at=NOW))
    assert paths == ["/api/v1/query"]


async def test_a_compressed_response_is_decompressed(serve: Serve, source_at: SourceAt) -> None:
    async def compressed(request: web.Request) -> web.StreamResponse:
        assert request.headers["Accept-Encoding"] == "gzip"
        return web.Response(body=gzip.compress(EMPTY), headers={"Content-Encoding": "gzip"})

    source = source_at(await serve(compressed), headers={"Accept-Encoding": "gzip"})
    assert isinstance(await source.query(UP, at=NOW), Seen)


async def test_the_byte_cap_holds_for_what_a_small_response_expands_to(
    serve: Serve, source_at: SourceAt
) -> None:
    bomb = gzip.compress(EMPTY[:-2] + b" " * (256 << 20), compresslevel=1)

    async def explode(_: web.Request) -> web.StreamResponse:
        return web.Response(body=bomb, headers={"Content-Encoding": "gzip"})

    source = source_at(await serve(explode), byte_cap=1 << 20, timeout=timedelta(seconds=20))
    assert len(bomb) < 2 << 20
    assert "more than 1 MiB (prometheus.byte_cap)" in reason(await source.query(UP, at=NOW))


async def test_a_response_that_is_not_what_its_encoding_says_is_cut(
    serve: Serve, source_at: SourceAt
) -> None:
    async def garbled(_: web.Request) -> web.StreamResponse:
        return web.Response(body=b"\x1f\x8b" + EMPTY, headers={"Content-Encoding": "gzip"})

    assert "in the middle of the response" in reason(await source_at(await serve(garbled)).query(UP, at=NOW))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        pytest.param(b"<html><form action=/login>", "text/html", id="a log-in page with status 200"),
        pytest.param(b"", "application/json", id="an empty body"),
        pytest.param(b"[]", "application/json", id="JSON that is no object"),
    ],
)
async def test_what_is_not_a_json_object_says_its_type(
    serve: Serve, source_at: SourceAt, body: bytes, kind: str
) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(body=body, content_type=kind)

    assert f"answered with {kind} instead of JSON" in reason(
        await source_at(await serve(answer)).query(UP, at=NOW)
    )


async def test_a_wrong_content_type_does_not_matter(serve: Serve, source_at: SourceAt) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(body=EMPTY, content_type="text/plain")

    assert isinstance(await source_at(await serve(answer)).query(UP, at=NOW), Seen)


async def test_a_server_that_does_not_speak_http_is_an_error(source_at: SourceAt) -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        result = await source_at(f"http://127.0.0.1:{port}").query(UP, at=NOW)
    assert f"the request to http://127.0.0.1:{port} failed" in reason(result)


async def test_connections_are_reused_and_limited(serve: Serve, source_at: SourceAt) -> None:
    ports: set[object] = set()

    async def answer(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        ports.add(request.transport.get_extra_info("peername")[1])
        return web.Response(body=EMPTY, content_type="application/json")

    source = source_at(await serve(answer), concurrency=3)
    results = await asyncio.gather(*(source.query(UP, at=NOW) for _ in range(30)))
    assert all(isinstance(one, Seen) for one in results)
    assert len(ports) == 3


async def test_a_cancelled_query_closes_its_connection(serve: Serve, source_at: SourceAt) -> None:
    arrived, aborted = asyncio.Event(), asyncio.Event()

    async def hang(_: web.Request) -> web.StreamResponse:
        arrived.set()
        try:
            await asyncio.Event().wait()
        finally:
            aborted.set()
        raise AssertionError

    source = source_at(await serve(hang), timeout=timedelta(seconds=60))
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(source.query(UP, at=NOW))
        await arrived.wait()
        task.cancel()
        await aborted.wait()


async def test_closing_ends_the_queries_under_way(serve: Serve, source_at: SourceAt) -> None:
    arrived = asyncio.Event()

    async def hang(_: web.Request) -> web.StreamResponse:
        arrived.set()
        await asyncio.Event().wait()
        raise AssertionError

    source = source_at(await serve(hang), timeout=timedelta(seconds=60), concurrency=1)
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        tasks = [group.create_task(source.query(UP, at=NOW)) for _ in range(2)]  # one runs, one waits
        await arrived.wait()
        await source.close()
    for task in tasks:
        assert "is closed" in reason(task.result())


@pytest.mark.parametrize(
    "url", ["prometheus:9090", "http://prometheus:port", "http://[::1", "ftp://prometheus"]
)
async def test_an_unusable_address_is_named(source_at: SourceAt, url: str) -> None:
    assert "is not a usable address" in reason(await source_at(url).query(UP, at=NOW))


async def test_the_path_and_password_of_the_url_are_used(serve: Serve, source_at: SourceAt) -> None:
    seen: list[tuple[str, str]] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        seen.append((request.path_qs, request.headers["Authorization"]))
        return web.Response(body=EMPTY, content_type="application/json")

    url = (await serve(answer)).replace("http://", "http://bot:wo%72d@")
    await source_at(f"{url}/select/0/prometheus/", params={"dedup": "true"}).query(UP, at=NOW)
    assert seen == [("/select/0/prometheus/api/v1/query?dedup=true", "Basic Ym90OndvcmQ=")]


async def test_a_proxy_that_refuses_is_named_and_not_its_password(
    serve: Serve, source_at: SourceAt, unused_tcp_port_factory: Callable[[], int]
) -> None:
    async def refuse(_: web.Request) -> web.StreamResponse:
        return web.Response(status=407)

    refusing = (await serve(refuse)).replace("http://", "http://me:hunter2@")
    closed = f"http://me:hunter2@127.0.0.1:{unused_tcp_port_factory()}"
    for proxy in (refusing, closed):
        text = reason(await source_at("https://prometheus.invalid", proxy_url=proxy).query(UP, at=NOW))
        assert "cannot be reached through its proxy" in text
        assert "hunter2" not in text


async def test_other_tasks_run_while_a_large_result_is_decoded(source_at: SourceAt) -> None:
    rows = b",".join(b'{"metric":{"n":"%d"},"value":[0,"1"]}' % number for number in range(20_000))
    body = b'{"status":"success","data":{"resultType":"vector","result":[%s]}}' % rows
    source, turns = source_at("http://127.0.0.1:1"), 0
    async with asyncio.TaskGroup() as group:
        task = group.create_task(source._seen(body, NOW))
        while not task.done():
            turns += 1
            await asyncio.sleep(0)
    assert len(task.result().samples) == 20_000
    assert turns >= 40
