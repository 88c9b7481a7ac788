"""A small HTTP server on loopback."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.typedefs import Handler


@asynccontextmanager
async def serving(
    path: str, receive: Handler, *, tls: ssl.SSLContext | None = None, largest: int = 1 << 20
) -> AsyncIterator[str]:
    """Yield the address to which `receive` takes what is posted. `largest`: bytes of a body."""
    app = web.Application(client_max_size=largest)
    app.router.add_post(path, receive)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"{'https' if tls else 'http'}://{host}:{port}{path}"
    finally:
        await runner.cleanup()
