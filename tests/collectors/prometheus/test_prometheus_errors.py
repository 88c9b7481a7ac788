"""Errors of Prometheus, or of a proxy in front of it, are Blind with a reason and what to do."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web

from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, Seen
from collectors.sources.prometheus.source import PrometheusSource
from tests.support.prometheus_answers import Handler, cut, hang_up, html, responding, to_login, trickle

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
UP = PromQLQuery(expr="up")
Serve = Callable[[Handler], Awaitable[str]]
SourceAt = Callable[..., PrometheusSource]

EMPTY = {"status": "success", "data": {"resultType": "vector", "result": []}}


async def cut_chunks(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    await response.write(b'{"status":"success","data":{"resultType":"vector"')
    assert request.transport is not None
    request.transport.abort()
    return response


BAD = {"status": "error", "errorType": "bad_data", "error": "1:5: parse error: unexpected <eof>"}
WRONG = [
    (responding(BAD, 400), ("400", "parse error", "correct the query"), "a query that does not parse"),
    (
        responding({**BAD, "error": "many-to-many"}, 422),
        ("422", "many-to-many"),
        "a query that cannot be executed",
    ),
    (responding({}, 401), ("401", "authorization"), "no credentials"),
    (responding({}, 403), ("403", "tenant"), "credentials without permission"),
    (
        responding({"error": "query timed out"}, 503),
        ("503", "query timed out", "overloaded"),
        "an overloaded server",
    ),
    (html, ("text/html", "JSON"), "a page from a proxy"),
    (to_login, ("302", "redirects"), "a redirect to a log-in page"),
    (cut, ("closed the connection in the middle of the response",), "a truncated body"),
    (cut_chunks, ("closed the connection in the middle",), "a truncated chunked body"),
    (hang_up, ("connection", "failed before a response came"), "a closed connection"),
    (
        responding({**EMPTY, "warnings": ["store 2 unreachable", "x"]}),
        ("partial", "store 2", "1 more"),
        "warnings",
    ),
    (
        responding({"status": "success", "data": {"resultType": "matrix", "result": []}}),
        ("matrix", "needs a vector"),
        "a range where an instant is needed",
    ),
    (
        responding({"status": "success", "data": {"resultType": "vector", "result": {}}}),
        ("not Prometheus'",),
        "unexpected JSON",
    ),
]


@pytest.mark.parametrize(("answer", "texts", "case"), WRONG, ids=[case for _, _, case in WRONG])
async def test_an_error_is_blind_and_says_what_to_do(
    serve: Serve,
    source_at: SourceAt,
    answer: Handler,
    texts: tuple[str, ...],
    case: str,
) -> None:
    url = await serve(answer)
    result = await source_at(url).query(UP, at=NOW)
    assert isinstance(result, Blind), case
    assert result.at == NOW
    for text in (*texts, "127.0.0.1"):
        assert text in result.reason


async def test_infos_do_not_make_a_result_blind(serve: Serve, source_at: SourceAt) -> None:
    url = await serve(responding({**EMPTY, "infos": ["metric might not be a counter"]}))
    assert await source_at(url).query(UP, at=NOW) == Seen(source="prometheus", at=NOW, samples=())


async def test_a_closed_port_and_an_unknown_host_are_different_errors(
    source_at: SourceAt, unused_tcp_port_factory: Callable[[], int]
) -> None:
    refused = await source_at(f"http://127.0.0.1:{unused_tcp_port_factory()}").query(UP, at=NOW)
    unresolved = await source_at("http://prometheus.invalid:9090").query(UP, at=NOW)
    assert isinstance(refused, Blind)
    assert isinstance(unresolved, Blind)
    assert "refuses the connection" in refused.reason
    assert "prometheus.invalid" in unresolved.reason
    assert "refuses" not in unresolved.reason


async def test_a_slow_response_is_aborted_at_the_deadline(serve: Serve, source_at: SourceAt) -> None:
    source = source_at(await serve(trickle), timeout=timedelta(seconds=0.4))
    async with asyncio.timeout(20):
        result = await source.query(UP, at=NOW)
    assert isinstance(result, Blind)
    assert "within 0.4 s" in result.reason


async def test_a_response_above_the_byte_cap_is_aborted(serve: Serve, source_at: SourceAt) -> None:
    sent = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            sent += 1 << 20
            await response.write(b" " * (1 << 20))

    source = source_at(await serve(endless), byte_cap=4 << 20)
    async with asyncio.timeout(20):
        result = await source.query(UP, at=NOW)
    assert isinstance(result, Blind)
    assert "4 MiB" in result.reason
    assert sent < 64 << 20


async def test_the_reason_has_the_number_of_series_above_the_cap(serve: Serve, source_at: SourceAt) -> None:
    rows = [{"metric": {"n": str(n)}, "value": [0, "1"]} for n in range(12)]
    url = await serve(responding({"status": "success", "data": {"resultType": "vector", "result": rows}}))
    result = await source_at(url, series_cap=10).query(UP, at=NOW)
    assert isinstance(result, Blind)
    assert "12 series, more than prometheus.series_cap (10)" in result.reason


async def test_the_presence_of_40_000_gpus_is_below_the_cap(serve: Serve, source_at: SourceAt) -> None:
    rows = [
        {"metric": {"Hostname": f"n{n // 8}", "gpu": str(n % 8), "UUID": f"GPU-{n:032x}"}, "value": [0, "1"]}
        for n in range(40_000)
    ]
    url = await serve(responding({"status": "success", "data": {"resultType": "vector", "result": rows}}))
    result = await source_at(url).query(UP, at=NOW)
    assert isinstance(result, Seen)
    assert len(result.samples) == 40_000


async def test_the_reason_contains_no_secret(serve: Serve, source_at: SourceAt) -> None:
    url = await serve(responding({}, 401))
    with_password = url.replace("http://", "http://bot:hunter2@")
    source = source_at(
        with_password + "/?token=t0ps3cret",
        headers={"X-Api-Key": "k3y"},
        authorization=lambda: "Bearer b3arer",
    )
    result = await source.query(UP, at=NOW)
    assert isinstance(result, Blind)
    for secret in ("hunter2", "k3y", "b3arer", "t0ps3cret"):
        assert secret not in result.reason


async def test_a_missing_credentials_file_is_named(serve: Serve, source_at: SourceAt) -> None:
    def read() -> str:
        raise FileNotFoundError(2, "No such file or directory", "/etc/yard/token")

    result = await source_at(await serve(responding(EMPTY)), authorization=read).query(UP, at=NOW)
    assert isinstance(result, Blind)
    assert "/etc/yard/token cannot be read" in result.reason


async def test_the_source_works_after_a_cancelled_query(serve: Serve, source_at: SourceAt) -> None:
    arrived = asyncio.Event()

    async def first_never(_: web.Request) -> web.StreamResponse:
        if not arrived.is_set():
            arrived.set()
            await asyncio.Event().wait()
        return web.json_response(EMPTY)

    source = source_at(await serve(first_never), concurrency=1)
    async with asyncio.TaskGroup() as group:
        query = group.create_task(source.query(UP, at=NOW))
        await arrived.wait()
        query.cancel()
    assert query.cancelled()
    assert isinstance(await source.query(UP, at=NOW), Seen)


async def test_too_many_waiting_queries_are_blind(serve: Serve, source_at: SourceAt) -> None:
    release = asyncio.Event()

    async def waiting(_: web.Request) -> web.StreamResponse:
        await release.wait()
        return web.json_response(EMPTY)

    source = source_at(await serve(waiting), concurrency=1, waiting_cap=3)
    async with asyncio.TaskGroup() as group:
        queries = [group.create_task(source.query(UP, at=NOW)) for _ in range(5)]
        while sum(task.done() for task in queries) < 2:  # noqa: ASYNC110 - tasks, not an event
            await asyncio.sleep(0)
        release.set()
    refused = [result.reason for task in queries if isinstance(result := task.result(), Blind)]
    assert len(refused) == 2
    assert "3 queries already wait for " in refused[0]


async def test_a_closed_source_is_blind(serve: Serve, source_at: SourceAt) -> None:
    source = source_at(await serve(responding(EMPTY)))
    await source.close()
    result = await source.query(UP, at=NOW)
    assert isinstance(result, Blind)
    assert "closed" in result.reason


async def test_a_missing_ca_file_is_named(source_at: SourceAt) -> None:
    result = await source_at("https://127.0.0.1:1", ca_file="/etc/yard/ca.crt").query(UP, at=NOW)
    assert isinstance(result, Blind)
    assert "/etc/yard/ca.crt" in result.reason


async def test_a_configured_proxy_is_used(serve: Serve, source_at: SourceAt) -> None:
    urls: list[str] = []

    async def proxy(request: web.Request) -> web.StreamResponse:
        urls.append(str(request.url))
        return web.json_response(EMPTY)

    source = source_at("http://prometheus.invalid:9090/base", proxy_url=await serve(proxy))
    assert isinstance(await source.query(UP, at=NOW), Seen)
    assert urls == ["http://prometheus.invalid:9090/base/api/v1/query"]


async def test_proxy_environment_variables_are_ignored(
    serve: Serve, source_at: SourceAt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert isinstance(await source_at(await serve(responding(EMPTY))).query(UP, at=NOW), Seen)
