"""This file has the fixtures of these tests: a small server that misbehaves on order, and doors that get closed."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
from aiohttp import web

from collectors.sources.prometheus import PrometheusDoor, PrometheusSettings

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@pytest.fixture
async def serve() -> AsyncIterator[Callable[[Answer], Awaitable[str]]]:
    """A function that serves every path with one answer and gives the address."""
    async with AsyncExitStack() as stack:

        async def start(answer: Answer) -> str:
            async def handler(request: web.Request) -> web.StreamResponse:
                return await answer(request)

            app = web.Application()
            app.router.add_route("*", "/{path:.*}", handler)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            port = runner.addresses[0][1]
            return f"http://127.0.0.1:{port}"

        yield start


@pytest.fixture
async def door_to() -> AsyncIterator[Callable[..., PrometheusDoor]]:
    """A function that opens a door to an address; it is closed after the test."""
    async with AsyncExitStack() as stack:

        def open_door(url: str, **settings: object) -> PrometheusDoor:
            settings.setdefault("timeout", timedelta(seconds=5))
            door = PrometheusDoor(PrometheusSettings(url=url, **settings))  # type: ignore[arg-type]
            stack.push_async_callback(door.close)
            return door

        yield open_door
