"""Connections that send half a request and nothing more: they exhaust neither the bot's files nor its endpoints."""

import asyncio
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.support.examples import by_profile
from tests.support.light import light
from tests.support.process import Process, listens_at_a_free_port

# How many files the process may have, and connections, of which there are more.
_FEW = pytest.param(256, 400, id="400 connections")
_MANY = pytest.param(1024, 1139, id="1,139 connections")
SIZES = by_profile([_FEW], [_FEW, _MANY])
HALVES = {
    "headers": b"GET /healthz HTTP/1.1\r\nHost: x",
    "a body": b"POST /api/yard/lines HTTP/1.1\r\nHost: x\r\n",
}
HALVES["a body"] += b"Content-Length: 100\r\n\r\n{"


@asynccontextmanager
async def half_open(address: str, half: bytes, count: int) -> AsyncIterator[None]:
    """Hold that many connections, each with half a request."""
    host, _, port = address.removeprefix("http://").partition(":")
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        for _ in range(count):
            half_request = stack.enter_context(socket.socket())
            half_request.setblocking(False)
            async with asyncio.timeout(30):
                await loop.sock_connect(half_request, (host, int(port)))
                await loop.sock_sendall(half_request, half)
        yield


@pytest.mark.soak
@pytest.mark.parametrize(("descriptors", "count"), SIZES)
async def test_with_more_half_open_connections_than_files_everything_goes_on(
    tmp_path: Path, descriptors: int, count: int
) -> None:
    async with light(tmp_path, start=False) as stage:
        address = listens_at_a_free_port(stage)
        log = tmp_path / "log"
        process = await Process.begin(stage, descriptors=descriptors, log=log)
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as http:
            for half in HALVES.values():
                async with half_open(address, half, count):
                    async with http.get(f"{address}/healthz", headers={"Connection": "close"}) as answer:
                        assert answer.status == 200
                    seen = len(stage.prometheus.queries)
                    await stage.until(lambda seen=seen: len(stage.prometheus.queries) > seen + 2)  # type: ignore[misc]
            async with http.get(f"{address}/metrics") as answer:
                text = await answer.text()
        assert 'yardmaster_http_connections_closed_total{reason="crowded"} 0.0' not in text
        assert 'yardmaster_http_connections_closed_total{reason="crowded"}' in text
        assert await process.end(signal.SIGTERM) == 0
        assert [line for line in process.log if "Too many open files" in line] == []
        assert len([line for line in process.log if "connections closed" in line]) == 1, "once a minute"
