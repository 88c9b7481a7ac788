"""Range queries in a child process: results, errors, secrets, and the end of the process."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import web

from collectors.facts.clock import SystemClock
from collectors.facts.results import Series, SourceError, TooLargeError
from collectors.facts.sentences import Sentence, said_by
from collectors.sources.prometheus.ranges import RangeReader
from tests.real.fixtures import StartPrometheus
from tests.support.prometheus_answers import Handler, cut, hang_up, html, responding, to_login, trickle

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
STEP = timedelta(seconds=30)
Serve = Callable[[Handler], Awaitable[str]]
ReaderAt = Callable[..., RangeReader]


def matrix(**more: object) -> dict[str, object]:
    rows = [{"metric": {"gpu": "0"}, "values": [[NOW.timestamp(), "64.5"], [NOW.timestamp() + 30, "NaN"]]}]
    return {"status": "success", "data": {"resultType": "matrix", "result": rows}, **more}


async def fetch(reader: RangeReader, expr: str = "t") -> tuple[Series, ...]:
    async with asyncio.timeout(60):
        return await reader.fetch(expr, start=NOW - HOUR, end=NOW, step=STEP)


async def test_a_range_is_posted_as_a_form_and_has_times_and_values(
    serve: Serve, reader_at: ReaderAt
) -> None:
    requests: list[tuple[str, str, dict[str, object]]] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        login = f"{request.headers['Authorization']} for {request.headers['X-Scope-OrgID']}"
        requests.append((request.path_qs, login, dict(await request.post())))
        return web.json_response(matrix())

    tokens = iter(["Bearer one", "Bearer two"])
    reader = reader_at(
        await serve(answer),
        authorization=lambda: next(tokens),
        headers={"X-Scope-OrgID": "team-a"},
        params={"dedup": "true"},
    )
    (series,) = await fetch(reader, "rate(x[5m])")
    await fetch(reader)
    assert series.labels == {"gpu": "0"}
    assert series.points[0] == (NOW.timestamp(), 64.5)
    assert series.points[1][1] != series.points[1][1]  # NaN
    form = {
        "query": "rate(x[5m])",
        "start": f"{(NOW - HOUR).timestamp():.3f}",
        "end": f"{NOW.timestamp():.3f}",
        "step": "30",
        "timeout": "20s",
    }
    path = "/api/v1/query_range?dedup=true"
    assert requests[0] == (path, "Bearer one for team-a", form)
    assert requests[1][1] == "Bearer two for team-a"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        pytest.param(
            responding({"error": "parse error"}, 400), "400: parse error; correct", id="a bad query"
        ),
        pytest.param(responding({}, 401), "401; check authorization", id="no credentials"),
        pytest.param(html, "answered with text/html instead of JSON", id="a log-in page"),
        pytest.param(to_login, "302; it redirects", id="a redirect"),
        pytest.param(cut, "in the middle of the response", id="half an answer"),
        pytest.param(hang_up, "failed before a response came", id="a closed connection"),
        pytest.param(responding(matrix(warnings=["store 2 is gone"])), "partial: store 2", id="warnings"),
        pytest.param(responding({"status": "success"}), "no data", id="unexpected JSON"),
    ],
)
async def test_an_error_says_where_and_what_to_do(
    serve: Serve, reader_at: ReaderAt, answer: Handler, text: str
) -> None:
    url = await serve(answer)
    secret = url.replace("http://", "http://bot:hunter2@")
    with pytest.raises(SourceError, match=text) as caught:
        await fetch(reader_at(secret))
    assert url in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert isinstance(said_by(caught.value), Sentence), "it crossed a process, and is translated all the same"


async def test_a_closed_port_is_an_error(reader_at: ReaderAt, unused_tcp_port: int) -> None:
    with pytest.raises(SourceError, match="refuses the connection"):
        await fetch(reader_at(f"http://127.0.0.1:{unused_tcp_port}"))


async def test_a_response_above_a_cap_is_too_large(serve: Serve, reader_at: ReaderAt) -> None:
    url = await serve(responding(matrix()))
    with pytest.raises(TooLargeError, match=r"prometheus\.byte_cap"):
        await fetch(reader_at(url, byte_cap=64))
    with pytest.raises(TooLargeError, match=r"prometheus\.series_cap"):
        await fetch(reader_at(url, series_cap=0))


async def test_a_missing_credentials_file_is_named(serve: Serve, reader_at: ReaderAt) -> None:
    def read() -> str:
        raise FileNotFoundError(2, "No such file or directory", "/etc/yard/token")

    with pytest.raises(SourceError, match="/etc/yard/token cannot be read"):
        await fetch(reader_at(await serve(responding(matrix())), authorization=read))


class Hanging:
    """A handler that hangs until `is_open`; `arrived` is set by each request."""

    def __init__(self) -> None:
        self.arrived = asyncio.Event()
        self.is_open = False

    async def __call__(self, _: web.Request) -> web.StreamResponse:
        self.arrived.set()
        if not self.is_open:
            await asyncio.Event().wait()
        return web.json_response(matrix())


async def test_no_secret_is_in_the_arguments_or_the_environment_of_the_child(
    serve: Serve, reader_at: ReaderAt
) -> None:
    server = Hanging()
    url = (await serve(server)).replace("http://", "http://bot:hunter2@")
    reader = reader_at(url, headers={"X-Api-Key": "k3y"}, proxy_url="")
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        task = group.create_task(fetch(reader))
        await server.arrived.wait()
        child = Path("/proc", str(pid_of(reader)))
        shown = (child / "cmdline").read_bytes() + (child / "environ").read_bytes()
        task.cancel()
    assert b"range_child" in shown
    for secret in (b"hunter2", b"k3y", b"Ym90Omh1bnRlcjI="):
        assert secret not in shown


async def test_the_child_is_killed_with_a_cancelled_request_and_started_again(
    serve: Serve, reader_at: ReaderAt
) -> None:
    server = Hanging()
    reader = reader_at(await serve(server))
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        task = group.create_task(fetch(reader))
        await server.arrived.wait()
        pid = pid_of(reader)
        task.cancel()
    assert not is_alive(pid)
    server.is_open = True
    assert len(await fetch(reader)) == 1


async def test_a_response_that_trickles_is_ended_at_the_timeout(
    serve: Serve, reader_at: ReaderAt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collectors.sources.prometheus.ranges._START", 1.0)
    with pytest.raises(SourceError, match=r"within 0\.4 s"):
        await fetch(reader_at(await serve(trickle), timeout=timedelta(seconds=0.4)))


async def test_a_child_that_dies_is_an_error_and_replaced(serve: Serve, reader_at: ReaderAt) -> None:
    server = Hanging()
    reader = reader_at(await serve(server))
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        task = group.create_task(error_of(reader))
        await server.arrived.wait()
        os.kill(pid_of(reader), signal.SIGKILL)
    assert "ended unexpectedly" in task.result()
    server.is_open = True
    assert len(await fetch(reader)) == 1


async def test_one_child_serves_many_requests(serve: Serve, reader_at: ReaderAt) -> None:
    reader = reader_at(await serve(responding(matrix())))
    await fetch(reader)
    pid = pid_of(reader)
    await asyncio.gather(fetch(reader), fetch(reader))
    assert pid_of(reader) == pid


async def test_a_real_prometheus_answers_as_recorded(
    start_prometheus: StartPrometheus, reader_at: ReaderAt
) -> None:
    end = SystemClock().now() - timedelta(minutes=10)
    start = end - HOUR
    samples = [f'heat{{gpu="0"}} {number} {start.timestamp() + 30 * number:.3f}' for number in range(60)]
    server = start_prometheus(samples=["# TYPE heat gauge", *samples])
    (series,) = await reader_at(server.url).fetch("heat", start=start, end=start + 59 * STEP, step=STEP)
    assert series.labels == {"__name__": "heat", "gpu": "0"}
    assert [value for _, value in series.points] == list(range(60))
    with pytest.raises(SourceError, match="exceeded maximum resolution of 11,000 points"):
        await reader_at(server.url).fetch("heat", start=start, end=end, step=timedelta(milliseconds=100))


async def error_of(reader: RangeReader) -> str:
    with pytest.raises(SourceError) as caught:
        await fetch(reader)
    return str(caught.value)


def pid_of(reader: RangeReader) -> int:
    assert reader._child is not None
    return reader._child.pid


def is_alive(pid: int) -> bool:
    return Path("/proc", str(pid)).exists()
