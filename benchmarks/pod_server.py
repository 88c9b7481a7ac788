"""A server of prepared pages of pods, in a process of its own: `python -m benchmarks.pod_server PORT COUNT`.

The measured process pays for the connection only. A watch stays open and sends no events.
"""

import asyncio
import sys

from aiohttp import web

from benchmarks.local_server import serve_until_cancelled
from benchmarks.pods import Pages, pages

PATH = "/api/v1/pods"


async def serve(port: int, list_of: Pages) -> None:
    """Serve until cancelled."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            response = web.StreamResponse()
            await response.prepare(request)
            await asyncio.sleep(float(request.query.get("timeoutSeconds", "40")))
            return response
        body = list_of.bodies.get(request.query.get("continue", ""))
        if body is None:
            return web.Response(status=410)
        return web.Response(body=body, content_type="application/json")

    app = web.Application()
    app.router.add_get(PATH, answer)
    await serve_until_cancelled(app, port)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), pages(int(sys.argv[2]))))
