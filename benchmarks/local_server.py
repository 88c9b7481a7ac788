"""A server in a process of its own, so that the measured process pays for the connection only."""

import asyncio

from aiohttp import web


async def serve_until_cancelled(app: web.Application, port: int) -> None:
    """Serve on loopback, with `/readyz` in addition."""

    async def ready(_: web.Request) -> web.StreamResponse:
        return web.Response(text="ok")

    app.router.add_get("/readyz", ready)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()
