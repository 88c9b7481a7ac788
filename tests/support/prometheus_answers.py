"""Answers of a broken Prometheus, or of a proxy in front of it."""

import asyncio
from collections.abc import Awaitable, Callable

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def responding(body: object, status: int = 200) -> Handler:
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
    await response.write(b'{"status":"success","data"')
    assert request.transport is not None
    request.transport.close()
    return response


async def trickle(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.02)


async def hang_up(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()
