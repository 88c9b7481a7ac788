"""Whatever Prometheus, or something before it, does wrong, the source says Blind, why, and what to do."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import web

from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, Seen
from collectors.sources.prometheus.source import PrometheusSource

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
UP = PromQLQuery(expr="up")
Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
SourceAt = Callable[..., PrometheusSource]

EMPTY = {"status": "success", "data": {"resultType": "vector", "result": []}}


def saying(body: object, status: int = 200) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=status)

    return answer


async def html(_: web.Request) -> web.StreamResponse:
    return web.Response(text="<html>Sign in</html>", content_type="text/html")


async def to_login(_: web.Request) -> web.StreamResponse:
    raise web.HTTPFound("/login")


async def cut(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "5000"})
    await response.prepare(request)
    await response.write(b'{"status":"success","data":{"resultType":"vector"')
    assert request.transport is not None
    request.transport.close()
    return response


async def cut_chunks(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    await response.write(b'{"status":"success","data":{"resultType":"vector"')
    assert request.transport is not None
    request.transport.abort()
    return response


async def hang_up(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


BAD = {"status": "error", "errorType": "bad_data", "error": "1:5: parse error: unexpected <eof>"}
WRONG = [
    (saying(BAD, 400), ("400", "parse error", "correct the query"), "a query that does not parse"),
    (
        saying({**BAD, "error": "many-to-many"}, 422),
        ("422", "many-to-many"),
        "a query that cannot be executed",
    ),
    (saying({}, 401), ("401", "authorization"), "no credentials"),
    (saying({}, 403), ("403", "tenant"), "credentials without the right"),
    (
        saying({"error": "query timed out"}, 503),
        ("503", "query timed out", "overloaded"),
        "an overloaded server",
    ),
    (html, ("text/html", "JSON"), "a page of a proxy"),
    (to_login, ("302", "redirects"), "a redirection to a log-in"),
    (cut, ("broke its answer off",), "a body that is cut"),
    (cut_chunks, ("broke",), "a chunked body that is cut"),
    (hang_up, ("connection", "broke"), "a connection that is hung up"),
    (
        saying({**EMPTY, "warnings": ["store 2 unreachable", "x"]}),
        ("partial", "store 2", "1 more"),
        "warnings",
    ),
    (
        saying({"status": "success", "data": {"resultType": "matrix", "result": []}}),
        ("matrix", "needs a vector"),
        "a range where an instant is needed",
    ),
    (
        saying({"status": "success", "data": {"resultType": "vector", "result": {}}}),
        ("not Prometheus'",),
        "odd JSON",
    ),
]


@pytest.mark.parametrize(("answer", "words", "case"), WRONG, ids=[case for _, _, case in WRONG])
async def test_a_wrong_answer_is_blind_and_says_what_to_do(
    serve: Serve,
    source_at: SourceAt,
    answer: Callable[[web.Request], Awaitable[web.StreamResponse]],
    words: tuple[str, ...],
    case: str,
) -> None:
    url = await serve(answer)
    said = await source_at(url).query(UP, at=NOW)
    assert isinstance(said, Blind), case
    assert said.at == NOW
    for word in (*words, "127.0.0.1"):
        assert word in said.reason


async def test_infos_are_no_reason_to_be_blind(serve: Serve, source_at: SourceAt) -> None:
    url = await serve(saying({**EMPTY, "infos": ["metric might not be a counter"]}))
    assert await source_at(url).query(UP, at=NOW) == Seen(source="prometheus", at=NOW, samples=())


async def test_nobody_listening_is_told_from_a_bad_address(
    source_at: SourceAt, unused_tcp_port_factory: Callable[[], int]
) -> None:
    nobody = await source_at(f"http://127.0.0.1:{unused_tcp_port_factory()}").query(UP, at=NOW)
    nowhere = await source_at("http://prometheus.invalid:9090").query(UP, at=NOW)
    assert isinstance(nobody, Blind)
    assert isinstance(nowhere, Blind)
    assert "refuses the connection" in nobody.reason
    assert "prometheus.invalid" in nowhere.reason
    assert "refuses" not in nowhere.reason


async def test_a_server_that_trickles_is_given_up_at_the_deadline(serve: Serve, source_at: SourceAt) -> None:
    async def trickle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.02)

    source = source_at(await serve(trickle), timeout=timedelta(seconds=0.4))
    async with asyncio.timeout(20):
        said = await source.query(UP, at=NOW)
    assert isinstance(said, Blind)
    assert "within 0.4 s" in said.reason


async def test_an_answer_above_the_byte_cap_is_refused_and_not_held(
    serve: Serve, source_at: SourceAt
) -> None:
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
        said = await source.query(UP, at=NOW)
    assert isinstance(said, Blind)
    assert "4 MiB" in said.reason
    assert sent < 64 << 20


async def test_more_series_than_the_cap_are_counted_in_the_reason(serve: Serve, source_at: SourceAt) -> None:
    rows = [{"metric": {"n": str(n)}, "value": [0, "1"]} for n in range(12)]
    url = await serve(saying({"status": "success", "data": {"resultType": "vector", "result": rows}}))
    said = await source_at(url, series_cap=10).query(UP, at=NOW)
    assert isinstance(said, Blind)
    assert "12 series" in said.reason
    assert "10" in said.reason


async def test_no_secret_reaches_the_reason(serve: Serve, source_at: SourceAt) -> None:
    url = await serve(saying({}, 401))
    with_password = url.replace("http://", "http://bot:hunter2@")
    source = source_at(
        with_password + "/?token=t0ps3cret",
        headers={"X-Api-Key": "k3y"},
        authorization=lambda: "Bearer b3arer",
    )
    said = await source.query(UP, at=NOW)
    assert isinstance(said, Blind)
    for secret in ("hunter2", "k3y", "b3arer", "t0ps3cret"):
        assert secret not in said.reason


async def test_a_credentials_file_that_is_gone_is_named(serve: Serve, source_at: SourceAt) -> None:
    def read() -> str:
        raise FileNotFoundError(2, "No such file or directory", "/etc/yard/token")

    said = await source_at(await serve(saying(EMPTY)), authorization=read).query(UP, at=NOW)
    assert isinstance(said, Blind)
    assert "/etc/yard/token cannot be read" in said.reason


async def test_a_cancelled_query_leaves_the_source_working(serve: Serve, source_at: SourceAt) -> None:
    asked: list[str] = []

    async def slow_first(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        if len(asked) == 1:
            await asyncio.sleep(30)
        return web.json_response(EMPTY)

    source = source_at(await serve(slow_first), timeout=timedelta(seconds=1), concurrency=2)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await source.query(UP, at=NOW)
    assert isinstance(await source.query(UP, at=NOW), Seen)


async def test_too_many_questions_in_line_are_refused_loudly(serve: Serve, source_at: SourceAt) -> None:
    free = asyncio.Event()

    async def held(_: web.Request) -> web.StreamResponse:
        await free.wait()
        return web.json_response(EMPTY)

    source = source_at(await serve(held), concurrency=1, waiting_cap=3)
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(source.query(UP, at=NOW)) for _ in range(5)]
        while sum(task.done() for task in asked) < 2:  # noqa: ASYNC110 - tasks, not an event
            await asyncio.sleep(0)
        free.set()
    refused = [said.reason for task in asked if isinstance(said := task.result(), Blind)]
    assert len(refused) == 2
    assert "3 questions wait" in refused[0]


async def test_a_closed_source_is_blind(serve: Serve, source_at: SourceAt) -> None:
    source = source_at(await serve(saying(EMPTY)))
    await source.close()
    said = await source.query(UP, at=NOW)
    assert isinstance(said, Blind)
    assert "closed" in said.reason


async def test_a_missing_authority_file_is_named(source_at: SourceAt) -> None:
    said = await source_at("https://127.0.0.1:1", ca_file="/etc/yard/ca.crt").query(UP, at=NOW)
    assert isinstance(said, Blind)
    assert "/etc/yard/ca.crt" in said.reason


async def test_a_proxy_is_used_where_one_is_named(serve: Serve, source_at: SourceAt) -> None:
    through: list[str] = []

    async def proxy(request: web.Request) -> web.StreamResponse:
        through.append(str(request.url))
        return web.json_response(EMPTY)

    source = source_at("http://prometheus.invalid:9090/base", proxy_url=await serve(proxy))
    assert isinstance(await source.query(UP, at=NOW), Seen)
    assert through == ["http://prometheus.invalid:9090/base/api/v1/query"]


async def test_variables_of_the_environment_do_not_send_it_elsewhere(
    serve: Serve, source_at: SourceAt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert isinstance(await source_at(await serve(saying(EMPTY))).query(UP, at=NOW), Seen)
