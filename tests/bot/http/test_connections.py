"""Connections: how many there may be, and how long one may take to send a request."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from bot.http import connections as module
from bot.http.connections import Connections
from bot.http.server import Endpoints, Server, application
from bot.metrics import Metrics
from collectors.facts.clock import SystemClock
from collectors.internal_errors import InternalErrors
from commands.core.command import Answer
from commands.core.request import Request

HALF = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
HALF_BODY = b"POST /api/yard/lines HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"
WHOLE = HALF + b"\r\n"
SCRAPE = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
SLOW = b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"

Peer = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Served:
    """A server with few connections. A request to /slack/events is handled until `go_on`."""

    def __init__(self, server: Server, metrics: Metrics) -> None:
        self.server = server
        self.metrics = metrics
        self.go_on = asyncio.Event()
        self.handled = 0  # requests to /slack/events that began
        self._peers: list[Peer] = []

    async def connects(self, sent: bytes) -> Peer:
        host, _, port = self.server.address.removeprefix("http://").partition(":")
        peer = await asyncio.open_connection(host, int(port))
        peer[1].write(sent)
        self._peers.append(peer)
        return peer

    def closed(self, reason: str) -> float:
        found = self.metrics.registry.get_sample_value(
            "yardmaster_http_connections_closed_total", {"reason": reason}
        )
        assert found is not None
        return found

    @property
    def connections(self) -> float:
        return self.metrics.registry.get_sample_value("yardmaster_http_connections") or 0.0

    async def until(self, is_so: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not is_so():  # noqa: ASYNC110 - there is no event to wait for
                await asyncio.sleep(0.01)

    async def leave(self) -> None:
        self.go_on.set()
        for _, writer in self._peers:
            writer.close()
        await self.server.stop()


@asynccontextmanager
async def served(most: int) -> AsyncIterator[Served]:
    async def takes(_request: Request) -> Answer | None:
        return None

    async def slow(_request: web.Request) -> web.StreamResponse:
        stage.handled += 1
        await stage.go_on.wait()
        return web.Response(text="slow\n")

    metrics = Metrics()
    connections = Connections(metrics, most=most)
    endpoints = Endpoints(
        take=takes, clock=SystemClock(), metrics=metrics, not_ready=lambda: "", senders=(), slack=slow
    )
    server = Server(application(endpoints), "127.0.0.1:0", connections, InternalErrors())
    await server.start()
    stage = Served(server, metrics)
    try:
        yield stage
    finally:
        await stage.leave()


async def test_the_one_that_waited_longest_makes_room() -> None:
    async with served(most=3) as stage:
        peers = [await stage.connects(HALF) for _ in range(3)]
        await stage.until(lambda: stage.connections == 3)
        reader, _ = await stage.connects(WHOLE)
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        assert await peers[0][0].read() == b""
        peers[1][1].write(b"\r\n")
        assert await peers[1][0].readline() == b"HTTP/1.1 200 OK\r\n"
        assert (stage.closed("crowded"), stage.closed("late")) == (1, 0)


async def test_a_request_that_is_handled_is_not_closed_for_another() -> None:
    async with served(most=2) as stage:
        slow = [await stage.connects(SLOW) for _ in range(2)]
        await stage.until(lambda: stage.handled == 2)
        reader, _ = await stage.connects(WHOLE)
        assert await reader.read() == b""
        stage.go_on.set()
        assert [await reader.readline() for reader, _ in slow] == [b"HTTP/1.1 200 OK\r\n"] * 2


async def test_a_probe_is_answered_while_as_many_requests_are_handled_as_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_HANDLED", 2)
    async with served(most=20) as stage:
        for _ in range(2):
            await stage.connects(SLOW)
        await stage.until(lambda: stage.handled == 2)
        reader, _ = await stage.connects(SLOW)
        assert await reader.readline() == b"HTTP/1.1 503 Service Unavailable\r\n"
        reader, _ = await stage.connects(WHOLE)
        assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "half", [b"", HALF, HALF_BODY], ids=["nothing", "half of the headers", "half of the body"]
)
async def test_half_a_request_is_closed_in_time_and_a_slow_handler_is_not(
    monkeypatch: pytest.MonkeyPatch, half: bytes
) -> None:
    monkeypatch.setattr(module, "CHECK_EVERY", 0.05)
    read: list[bytes] = []
    receive = module.Connection.data_received

    def received(connection: module.Connection, data: bytes) -> None:
        receive(connection, data)
        read.append(data)

    monkeypatch.setattr(module.Connection, "data_received", received)
    async with served(most=20) as stage:
        slow, _ = await stage.connects(SLOW)
        reader, _ = await stage.connects(half)
        await stage.until(
            lambda: stage.handled == 1 and stage.connections == 2 and (half in read or not half)
        )
        monkeypatch.setattr(
            module, "REQUEST_WITHIN", 0.1
        )  # only now, as a busy machine may take longer to read it
        assert await reader.read() == b""
        assert stage.closed("late") == (1 if half else 0)
        assert stage.connections == 1
        stage.go_on.set()
        assert await slow.readline() == b"HTTP/1.1 200 OK\r\n"


async def answer_of(reader: asyncio.StreamReader) -> bytes:
    """Return the first line of the next answer, and read the rest of it."""
    headers = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in headers.splitlines() if line.lower().startswith(b"content-length:"))
    await reader.readexactly(int(length.split(b":")[1]))
    return headers.splitlines()[0]


async def test_a_client_that_keeps_its_connection_for_the_next_scrape_is_not_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "REQUEST_WITHIN", 0.1)
    monkeypatch.setattr(module, "CHECK_EVERY", 0.02)
    async with served(most=20) as stage:
        reader, writer = await stage.connects(SCRAPE)
        for _ in range(2):
            assert await answer_of(reader) == b"HTTP/1.1 200 OK"
            silent, _ = await stage.connects(b"")  # it is closed: as much time has gone by
            assert await silent.read() == b""
            writer.write(SCRAPE)
        assert await answer_of(reader) == b"HTTP/1.1 200 OK"
        assert stage.closed("late") == 0
        writer.write(HALF)
        assert await reader.read() == b""
        assert stage.closed("late") == 1


async def test_who_keeps_a_connection_without_a_request_makes_room_first() -> None:
    async with served(most=2) as stage:
        idle, _ = await stage.connects(SCRAPE)
        assert await answer_of(idle) == b"HTTP/1.1 200 OK"
        half, writer = await stage.connects(HALF)
        await stage.until(lambda: stage.connections == 2)
        reader, _ = await stage.connects(WHOLE)
        assert await answer_of(reader) == b"HTTP/1.1 200 OK"
        assert await idle.read() == b""
        writer.write(b"\r\n")
        assert await answer_of(half) == b"HTTP/1.1 200 OK"


async def test_who_is_refused_under_overload_may_ask_again_on_the_same_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_HANDLED", 1)
    async with served(most=20) as stage:
        slow, _ = await stage.connects(SLOW)
        await stage.until(lambda: stage.connections == 1)
        await asyncio.sleep(0.05)
        reader, writer = await stage.connects(SCRAPE)
        assert await answer_of(reader) == b"HTTP/1.1 200 OK"
        writer.write(SLOW)
        assert await answer_of(reader) == b"HTTP/1.1 503 Service Unavailable"
        stage.go_on.set()
        assert await answer_of(slow) == b"HTTP/1.1 200 OK"
        writer.write(SLOW)
        assert await answer_of(reader) == b"HTTP/1.1 200 OK"
