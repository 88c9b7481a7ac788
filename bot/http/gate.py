"""The gate of the HTTP server: every request passes it before anything handles it, and every answer after it.

No request is answered with a server's error but 503, which says that it could not be handled now: not one that is
malformed, whoever sent it.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from aiohttp import web

from bot.http.connections import Connections
from collectors.facts.sentences import english
from collectors.internal_errors import InternalErrors

PROBES = ("/healthz", "/readyz", "/metrics")  # they are answered at once, however many requests are handled

Handle = Callable[[Any], Awaitable[web.StreamResponse]]


def guarded(handle: Handle, connections: Connections, errors: InternalErrors) -> Handle:
    """Return what reads a whole request, has it handled, and contains what is raised meanwhile."""

    async def through(request: web.Request) -> web.StreamResponse:
        if name := _undecodable(request):
            return _closing(f"the header {name} is not UTF-8")
        try:
            await request.read()  # until it is here its connection may be closed any time
        except web.HTTPException:  # it is too large
            raise
        except Exception as error:  # it is cut, is not compressed as it says, or the connection is gone
            return _closing(f"the body cannot be read ({type(error).__name__})")
        with connections.handling(request, always=request.path in PROBES) as is_handled:
            if not is_handled:
                answer = error_answer(503, "too many requests are being handled: try again in a moment")
                answer.headers["Retry-After"] = "1"
                return answer
            return await _contained(request, handle, errors)

    return through


def error_answer(status: int, reason: str) -> web.Response:
    """Return an answer with this reason, in JSON."""
    return web.Response(
        body=msgspec.json.encode({"error": reason}, enc_hook=english),
        status=status,
        content_type="application/json",
    )


def _closing(reason: str) -> web.Response:
    """Return the answer to a malformed request, after which nothing more is read from its connection."""
    answer = error_answer(400, reason)
    answer.force_close()
    return answer


async def _contained(request: web.Request, handle: Handle, errors: InternalErrors) -> web.StreamResponse:
    try:
        return await handle(request)
    except web.HTTPException:
        raise
    except Exception as error:
        return error_answer(503, errors.contain(error, "http"))


def _undecodable(request: web.Request) -> str:
    """Return the name of a header with bytes that are not UTF-8, which aiohttp escapes; empty if there is none."""
    for name, value in request.headers.items():
        try:
            value.encode()
        except UnicodeEncodeError:
            return name
    return ""
